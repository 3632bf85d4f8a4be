internal import Primitives

/// What the core wants done.
public enum DeliveryAction: Sendable {
  /// Make a request with these items.
  case send(DeliveryRequest)
  /// Make the request by which the destination is opened.
  case open
  /// Give a request up; its answer does not matter any more.
  case cancel(UInt64)
  /// Dead letters that were being sent again are not any more: read them anew.
  case reloadLetters
  case report(DeliveryReport)
}

/// One request with events.
public struct DeliveryRequest: Hashable, Sendable {
  public var id: UInt64
  public var items: [[UInt8]]
  /// The request with just these events before it failed.
  public var isRetry: Bool
}

/// Something that a person who reads the log wants to know.
public enum DeliveryReport: Hashable, Sendable {
  /// A request failed; the next try is in `wait`.
  case retrying(String, wait: Duration)
  /// The destination is not asked for `wait`, since it said so.
  case pausing(String, wait: Duration)
  /// Nothing is delivered until a person changes something; tried again in `wait`.
  case misconfigured(String, wait: Duration)
  /// Events get through again.
  case recovered
  /// This many events were refused and are dead letters now.
  case refused(Int, String)
  /// The first success whose answer cannot be read; later ones are only counted.
  case unproven(String)
  /// A request was refused as a whole and is halved.
  case splitting(Int, String)
  /// Users have to wait.
  case holding(users: Int, String, wait: Duration)
  /// An event that keeps failing is tried alone from now on.
  case suspecting(String)
}

/// What the engine has counted since its start.
public struct DeliveryCounts: Hashable, Sendable {
  public var requests: UInt64 = 0
  /// Requests with events that a request before carried too.
  public var retries: UInt64 = 0
  /// Requests that were halved.
  public var splits: UInt64 = 0
  /// Requests without an answer.
  public var unanswered: UInt64 = 0
  public var delivered: UInt64 = 0
  /// Of those delivered: the status says so, and the rest of the answer cannot be read.
  public var unproven: UInt64 = 0
  public var skipped: UInt64 = 0
  public var forgotten: UInt64 = 0
  /// Dead letters by origin.
  public var refusedBefore: UInt64 = 0
  public var refusedByDestination: UInt64 = 0
  public var failing: UInt64 = 0
  /// Dead letters that were sent again with success.
  public var redriven: UInt64 = 0
  /// Times that a user had to wait.
  public var holds: UInt64 = 0

  public init() {}
}
