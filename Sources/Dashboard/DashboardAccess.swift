internal import Hashing
public import HTTPServer
internal import Primitives

/// Who may look. With a token: who sends it as bearer token, or has shown it once on the login page and
/// has its cookie since. Without one: everybody who can reach the address, under the names that this
/// machine has for itself, so that no page of another name can look through a visitor's browser.
///
/// The cookie is made from the token and tells nothing about it; another token makes it worthless.
public struct DashboardAccess: Sendable {
  /// The fewest characters of a token that guards an address others can reach.
  public static let leastTokenBytes = 16
  /// The longest body of a login.
  public static let loginBytes = 4096

  private let token: [UInt8]?
  private let session: [UInt8]
  private let cookie: String
  private let ownNames: OwnNames

  /// - Parameters:
  ///   - token: empty counts as none.
  ///   - host: the address listened on.
  ///   - port: tells the cookies of several dashboards on one machine apart.
  public init(token: String?, host: String, port: UInt16) {
    let bytes = token.map { Array($0.utf8) } ?? []
    self.token = bytes.isEmpty ? nil : bytes
    let purpose = Array("eventbus dashboard session 1".utf8)
    session = unsafe Array(Hex.encode(HMACSHA256.code(key: bytes, purpose.span.bytes)).utf8)
    cookie = "eventbus-\(port)"
    ownNames = OwnNames(listeningOn: host)
  }

  /// Nil: go on. Else what is to be answered.
  public func answer(_ request: HTTPRequest) -> HTTPResponse? {
    // Whether the process lives and is ready, anybody may ask.
    if request.path == "/healthz" || request.path == "/readyz" { return nil }
    guard let token else { return ownNames.include(request) ? nil : Self.otherName }
    if request.method == "POST" {
      if request.path == "/login" { return login(request, token) }
      if request.path == "/logout" { return redirect(to: "/login", cookie: "", seconds: 0) }
    }
    if DashboardAssets.open.contains(request.path) || isKnown(request, token) { return nil }
    if request.path == "/" { return redirect(to: "/login") }
    var refusal = HTTPResponse.text("a bearer token is wanted\n", status: 401)
    refusal.headers = [HTTPRequest.Field("WWW-Authenticate", "Bearer")]
    return refusal
  }

  /// Whether an answer says that somebody may not look; who comes to the login page was only sent there.
  public static func isDenial(_ answer: HTTPResponse) -> Bool {
    answer.status == 401 || answer.status == 403
      || answer.headers.contains { $0.name == "Location" && $0.value == wrongLogin }
  }

  private static let wrongLogin = "/login#wrong"

  private func isKnown(_ request: HTTPRequest, _ token: [UInt8]) -> Bool {
    let given = request.header("Authorization") ?? ""
    if given.lowercased().hasPrefix("bearer ") {
      return ConstantTime.isEqual(Array(given.dropFirst(7).utf8), token)
    }
    return request.headers.filter { $0.name.lowercased() == "cookie" }.contains { header in
      header.value.split(separator: ";").contains { pair in
        let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
        return parts.count == 2 && parts[0] == cookie
          && ConstantTime.isEqual(Array(parts[1].utf8), session)
      }
    }
  }

  private func login(_ request: HTTPRequest, _ token: [UInt8]) -> HTTPResponse {
    let given = FormField.value(of: "token", in: request.body)
    guard let given, ConstantTime.isEqual(given, token) else {
      return redirect(to: Self.wrongLogin)
    }
    let value = String(decoding: session, as: UTF8.self)
    return redirect(to: "/", cookie: value, seconds: 30 * 86_400)
  }

  private func redirect(
    to path: String, cookie value: String? = nil, seconds: Int = 0
  ) -> HTTPResponse {
    var answer = HTTPResponse(status: 303)
    answer.headers = [
      HTTPRequest.Field("Location", path), HTTPRequest.Field("Cache-Control", "no-store"),
    ]
    if let value {
      answer.headers.append(
        HTTPRequest.Field(
          "Set-Cookie",
          "\(cookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"))
    }
    return answer
  }

  private static let otherName = HTTPResponse.text(
    "this address answers to localhost and 127.0.0.1 only; give --token to use it by another name\n",
    status: 403)
}

/// A field of a form as browsers send it.
enum FormField {
  /// The first field of that name, decoded; nil when there is none, or its escapes are broken.
  static func value(of name: String, in body: [UInt8]) -> [UInt8]? {
    for field in body.split(separator: UInt8(ascii: "&")) {
      let parts = field.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, decoded(parts[0]) == Array(name.utf8) { return decoded(parts[1]) }
    }
    return nil
  }

  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
          value.count == 1
        else { return nil }
        bytes += value
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}
