/// The header by which a publisher's request says of which bus its events are, so that a collector of the same
/// bus refuses them: each event would come back as another, for ever.
///
/// The value is `BrokerDescription.run` in hexadecimal. It tells nothing else, and goes only to endpoints that
/// somebody has given.
public enum BusMark {
  public static let header = "Eventbus-Run"

  /// Nil for a broker that has none.
  public static func text(of broker: BrokerDescription) -> String? {
    guard !broker.run.isEmpty else { return nil }
    return broker.run.reduce(into: "") { text, byte in
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
}
