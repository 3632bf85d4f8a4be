// A screen before and after: the sample of the documentation, in every form of `track`.
import AnalyticsUI
import SwiftUI
import UniformTypeIdentifiers

extension EventType {
  struct FeedOpened: PublishableEvent { static let eventType: EventType = "Feed Opened" }
  struct FeedLeft: PublishableEvent { static let eventType: EventType = "Feed Left" }
  struct PostLiked: PublishableEvent {
    static let eventType: EventType = "Post Liked"
    var eventProperties: PropertyObject? { ["Liked": true] }
  }
  struct PostMoved: PublishableEvent { static let eventType: EventType = "Post Moved" }
}

struct FeedScreenBefore: View {
  var body: some View {
    Button("Like") { like() }
      .onAppear { load() }
  }

  func like() {}
  func load() {}
}

struct FeedScreen: View, AnalyticsTracking {
  @Environment(\.analytics) var analytics

  var body: some View {
    Button("Like") {
      like()
      track(EventType.PostLiked())
    }
    .onAppear { load() }
    .track(.task) { EventType.FeedOpened() }
  }

  func like() {}
  func load() {}
}

/// The other forms.
struct FormsScreen: View, AnalyticsTracking {
  @Environment(\.analytics) var analytics
  var isFirstVisit = true
  var likes: [Int] = []

  var body: some View {
    VStack {
      Button("Like") { track(with: analytics, EventType.PostLiked()) }
      Button("Like all") {
        track(with: analytics) {
          for _ in likes { EventType.PostLiked() }
          if isFirstVisit { EventType.FeedOpened() }
        }
      }
      Text("Post")
        .onTapGesture { open() }
        .track(.onTapGesture, with: analytics) { EventType.FeedOpened() }
        .trackedDrag(with: analytics) {
          EventType.PostMoved()
        } _: {
          NSItemProvider()
        }
        .trackedDrop(of: [.image], with: analytics) {
          EventType.PostMoved()
        } perform: { providers in
          !providers.isEmpty
        }
    }
    .track(with: analytics) {
      AnalyticsEventGroup(.task) { EventType.FeedOpened() }
      if isFirstVisit {
        AnalyticsEventGroup(.onLongPressGesture) { EventType.PostLiked() }
      }
      AnalyticsEventGroup(.onDisappear) { EventType.FeedLeft() }
    }
  }

  func open() {}
}

struct Root: View {
  let analytics: AnalyticsService

  var body: some View {
    FeedScreen()
      .analytics(analytics)
      .tracksLifecycle(with: analytics)
  }
}

/// A client without a service.
struct SmallRoot: View {
  let client: AnalyticsClient

  var body: some View {
    FeedScreen()
      .analytics(client)
      .flushesInBackground(client)
  }
}
