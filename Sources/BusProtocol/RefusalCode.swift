/// Why a batch, an event of it, or a request was refused, by the broker or by the collector.
///
/// The only spelling there is: the raw value is what travels, what answers over HTTP have, and what metrics,
/// logs and `status` show. `Deploy/Guide/Rules.md` says for people what each means. A client that meets a
/// code it does not know treats it as permanent.
public enum RefusalCode: String, Sendable, CaseIterable {
  // Try again later: the batch itself is good.
  case overload = "OVERLOAD"
  case diskFull = "DISK_FULL"
  case draining = "DRAINING"
  case sequenceGap = "SEQUENCE_GAP"
  /// The key lacks the right, until somebody gives it.
  case denied = "DENIED"
  // Permanent, for one event of the batch.
  case tooLarge = "TOO_LARGE"
  case badName = "BAD_NAME"
  case badPayload = "BAD_PAYLOAD"
  case forbidden = "FORBIDDEN"
  case tooManyNames = "TOO_MANY_NAMES"
  /// Of the collector: it says nobody whom it is about.
  case noIdentity = "NO_IDENTITY"
  /// Of the collector: the tracking plan lets nothing be reported from there.
  case excluded = "EXCLUDED"
  // Permanent, for the batch or the request.
  case badFrame = "BAD_FRAME"
  case badRequest = "BAD_REQUEST"
  case unsupportedVersion = "UNSUPPORTED_VERSION"
  case tooManyProducers = "TOO_MANY_PRODUCERS"
  case filtersDiffer = "FILTERS_DIFFER"
  case unknownSubscriber = "UNKNOWN_SUBSCRIBER"
  case inUse = "IN_USE"

  public var isRetriable: Bool {
    switch self {
    case .overload, .diskFull, .draining, .sequenceGap, .denied: true
    default: false
    }
  }
}
