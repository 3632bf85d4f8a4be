#if canImport(SwiftUI)
  public import Analytics
  public import SwiftUI

  extension View {
    /// Sends the events of each group when its trigger fires, in order.
    ///
    /// The view's own `onAppear`, gestures and tasks go on as before: gestures are simultaneous, and a
    /// trigger without a group adds none. Drag and drop need a payload, so groups of `onDrag` and
    /// `onDrop` fire with ``trackedDrag(with:groups:_:)`` and ``trackedDrop(of:isTargeted:with:groups:perform:)``.
    public func track(
      with analytics: any AnalyticsEventSending,
      @AnalyticsEventGroupBuilder _ groups: () -> [AnalyticsEventGroup]
    ) -> some View {
      modifier(TrackingModifier(analytics: analytics, groups: groups()))
    }

    /// Sends events when one trigger fires, in order.
    public func track(
      _ trigger: AnalyticsEventTrigger, with analytics: any AnalyticsEventSending,
      @AnalyticsEventBuilder _ events: () -> [any PublishableEvent]
    ) -> some View {
      track(with: analytics) { AnalyticsEventGroup(trigger, events: events()) }
    }

    /// The same with the service of the environment.
    public func track(
      _ trigger: AnalyticsEventTrigger,
      @AnalyticsEventBuilder _ events: () -> [any PublishableEvent]
    ) -> some View {
      modifier(
        EnvironmentTrackingModifier(groups: [AnalyticsEventGroup(trigger, events: events())]))
    }
  }

  /// Fires groups from a view's life and from what is done with it.
  struct TrackingModifier: ViewModifier {
    let analytics: any AnalyticsEventSending
    let groups: [AnalyticsEventGroup]

    func body(content: Content) -> some View {
      content
        .onAppear { fire(.onAppear) }
        .onDisappear { fire(.onDisappear) }
        .task { fire(.task) }
        .simultaneousGesture(
          TapGesture().onEnded { fire(.onTapGesture) }, including: mask(.onTapGesture)
        )
        .simultaneousGesture(
          LongPressGesture().onEnded { _ in fire(.onLongPressGesture) },
          including: mask(.onLongPressGesture))
    }

    private func fire(_ trigger: AnalyticsEventTrigger) {
      groups.dispatch(trigger, to: analytics)
    }

    /// Without a group the gesture is off, and those of the view and inside it are not.
    private func mask(_ trigger: AnalyticsEventTrigger) -> GestureMask {
      groups.contains { $0.trigger == trigger } ? .all : .subviews
    }
  }

  struct EnvironmentTrackingModifier: ViewModifier {
    @Environment(\.analytics) private var analytics
    let groups: [AnalyticsEventGroup]

    init(groups: [AnalyticsEventGroup]) { self.groups = groups }

    func body(content: Content) -> some View {
      content.modifier(TrackingModifier(analytics: analytics, groups: groups))
    }
  }
#endif
