// A registry gathers the events of one feature area behind methods in the product's language, so that
// views and models neither know names of events nor count properties. These two are samples, and work.

/// What happens in a feed of posts.
public struct FeedAnalyticalRegistry: Sendable {
  private let analytics: any AnalyticsEventSending

  public init(_ analytics: any AnalyticsEventSending) { self.analytics = analytics }

  public func postOpened() { analytics.send(EventType.PostOpened()) }

  /// - Parameter liked: false when a like was taken back.
  public func postLiked(_ liked: Bool) { analytics.send(EventType.PostLiked(liked: liked)) }

  /// - Parameter shared: false when the sharing was broken off.
  public func postShared(_ shared: Bool) { analytics.send(EventType.PostShared(shared: shared)) }
}

extension EventType {
  public struct PostOpened: PublishableEvent, Hashable {
    public static let eventType: EventType = "Post Opened"

    public init() {}
  }

  public struct PostLiked: PublishableEvent, Hashable {
    public static let eventType: EventType = "Post Liked"
    public var liked: Bool

    public init(liked: Bool) { self.liked = liked }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("Liked", liked)
    }
  }

  public struct PostShared: PublishableEvent, Hashable {
    public static let eventType: EventType = "Post Shared"
    public var shared: Bool

    public init(shared: Bool) { self.shared = shared }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("Shared", shared)
    }
  }
}
