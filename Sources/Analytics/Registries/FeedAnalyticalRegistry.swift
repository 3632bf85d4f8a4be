// A registry gathers the events of one feature area behind methods in the product's language, so that
// views and models neither know names of events nor count properties. These two are samples, and work.

/// What happens in a feed of posts.
public struct FeedAnalyticalRegistry: Sendable {
  private let analytics: any AnalyticsEventSending

  /// - Parameter analytics: the service; in tests a recorder.
  public init(_ analytics: any AnalyticsEventSending) { self.analytics = analytics }

  /// A post was opened.
  public func postOpened() { analytics.send(EventType.PostOpened()) }

  /// - Parameter liked: false when a like was taken back.
  public func postLiked(_ liked: Bool) { analytics.send(EventType.PostLiked(liked: liked)) }

  /// - Parameter shared: false when the sharing was broken off.
  public func postShared(_ shared: Bool) { analytics.send(EventType.PostShared(shared: shared)) }
}

extension EventType {
  /// A post of the feed was opened.
  public struct PostOpened: PublishableEvent, Hashable {
    public static let eventType: EventType = "Post Opened"

    public init() {}
  }

  /// A like was given or taken back: `Liked`.
  public struct PostLiked: PublishableEvent, Hashable {
    public static let eventType: EventType = "Post Liked"
    /// False when it was taken back.
    public var liked: Bool

    public init(liked: Bool) { self.liked = liked }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("Liked", liked)
    }
  }

  /// A post was shared, or the sharing broken off: `Shared`.
  public struct PostShared: PublishableEvent, Hashable {
    public static let eventType: EventType = "Post Shared"
    /// False when it was broken off.
    public var shared: Bool

    public init(shared: Bool) { self.shared = shared }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("Shared", shared)
    }
  }
}
