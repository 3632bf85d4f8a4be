/// What a server answered.
public struct HTTPReply: Hashable, Sendable {
  public var status: Int
  /// Names in lower case, in the order in which they came.
  public var headers: [HTTPHeader]
  /// Decompressed; the first ``HTTPClientConfiguration/keptBodyBytes`` of it.
  public var body: [UInt8]
  /// There was more than was kept.
  public var isBodyCut: Bool

  public init(
    status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], isBodyCut: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isBodyCut = isBodyCut
  }

  /// The first header of that name, given in lower case.
  public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
