#if canImport(SwiftUI)
  public import Analytics
  public import SwiftUI
  public import UniformTypeIdentifiers

  extension View {
    /// `onDrag(_:)` that sends events when a drag begins, and gives the payload through.
    public func trackedDrag(
      with analytics: any AnalyticsEventSending,
      @AnalyticsEventBuilder events: () -> [any PublishableEvent],
      _ data: @escaping () -> NSItemProvider
    ) -> some View {
      trackedDrag(with: analytics, groups: [AnalyticsEventGroup(.onDrag, events: events())], data)
    }

    /// The same with the `onDrag` groups among `groups`.
    public func trackedDrag(
      with analytics: any AnalyticsEventSending, groups: [AnalyticsEventGroup],
      _ data: @escaping () -> NSItemProvider
    ) -> some View {
      onDrag {
        groups.dispatch(.onDrag, to: analytics)
        return data()
      }
    }

    /// `onDrop(of:isTargeted:perform:)` that sends events when the view took what was dropped.
    public func trackedDrop(
      of types: [UTType], isTargeted: Binding<Bool>? = nil,
      with analytics: any AnalyticsEventSending,
      @AnalyticsEventBuilder events: () -> [any PublishableEvent],
      perform action: @escaping ([NSItemProvider]) -> Bool
    ) -> some View {
      trackedDrop(
        of: types, isTargeted: isTargeted, with: analytics,
        groups: [AnalyticsEventGroup(.onDrop, events: events())], perform: action)
    }

    /// The same with the `onDrop` groups among `groups`.
    public func trackedDrop(
      of types: [UTType], isTargeted: Binding<Bool>? = nil,
      with analytics: any AnalyticsEventSending, groups: [AnalyticsEventGroup],
      perform action: @escaping ([NSItemProvider]) -> Bool
    ) -> some View {
      onDrop(of: types, isTargeted: isTargeted) { providers in
        let isTaken = action(providers)
        if isTaken { groups.dispatch(.onDrop, to: analytics) }
        return isTaken
      }
    }
  }
#endif
