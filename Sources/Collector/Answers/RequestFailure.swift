/// Why nothing of a request was taken.
struct RequestFailure: Error, Hashable, Sendable {
  var status: UInt32
  /// Lower case, as Segment's own: `invalid_request`.
  var code: String
  var reason: String
  /// Seconds after which to try again; nil where that does not help.
  var retryAfter: Int?

  init(_ status: UInt32, _ code: String, _ reason: String, retryAfter: Int? = nil) {
    self.status = status
    self.code = code
    self.reason = reason
    self.retryAfter = retryAfter
  }

  init(_ failure: RequestBody.Failure) {
    self.init(failure.status, failure.code, failure.reason)
  }

  init(_ error: BodyError) {
    self.init(
      400, "invalid_request", "malformed body: \(error.reason) (at byte \(error.position))")
  }

  static let loop = RequestFailure(
    508, "loop",
    "these events are of this collector's own bus: the --endpoint of the publisher that sends them leads "
      + "back here")

  /// Says neither which key it was nor how it differs.
  static let unauthorized = RequestFailure(
    401, "unauthorized", "the write key is missing or not one of this collector's")
}
