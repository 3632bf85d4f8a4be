// What each category asks for.
extension FakeGameAnalytics {
  private static let part = #"[A-Za-z0-9\s\-_\.\(\)\!\?]{1,64}"#

  static func categoryFault(_ event: JSONPiece) -> String? {
    let id = event["event_id"]?.string
    switch event["category"]?.string {
    case "design":
      guard matches(id, "^\(part)(:\(part)){0,4}$") else { return "event_id" }
      if let value = event["value"], value.number == nil { return "value" }
    case "business":
      guard matches(id, "^\(part):\(part)$") else { return "event_id" }
      guard isWhole(event["amount"]) else { return "amount" }
      guard matches(event["currency"]?.string, "^[A-Z]{3}$") else { return "currency" }
      guard isWhole(event["transaction_num"]) else { return "transaction_num" }
      if let cart = event["cart_type"], !matches(cart.string, "^.{1,32}$") { return "cart_type" }
    case "resource":
      guard matches(id, "^(Sink|Source):[A-Za-z]+:\(part):\(part)$") else { return "event_id" }
      guard let amount = event["amount"]?.number, amount > 0 else { return "amount" }
    case "progression":
      guard matches(id, "^(Start|Fail|Complete)(:\(part)){1,3}$") else { return "event_id" }
      for field in ["attempt_num", "score"] {
        if let value = event[field], !isWhole(value) { return field }
      }
    case "error":
      let severities = "^(debug|info|warning|error|critical)$"
      guard matches(event["severity"]?.string, severities) else { return "severity" }
      guard let message = event["message"]?.string, message.count <= 8192 else { return "message" }
    case "session_end":
      guard let length = event["length"], isWhole(length), (length.number ?? -1) >= 0 else {
        return "length"
      }
    default: break
    }
    return nil
  }

  private static func isWhole(_ piece: JSONPiece?) -> Bool {
    piece.map { Int($0.text) != nil } ?? false
  }
}
