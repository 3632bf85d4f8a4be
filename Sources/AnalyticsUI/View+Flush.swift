#if canImport(SwiftUI)
  public import Analytics
  public import SwiftUI

  extension View {
    /// Tells the service when the app leaves the front and when it is back, so that it tracks both and sends
    /// what waits. Once, at the app's root; `applicationLaunched` is the app's to call.
    ///
    /// What cannot be sent in the seconds that the system gives is on disk, and goes out at the next
    /// launch.
    public func tracksLifecycle(with service: AnalyticsService) -> some View {
      modifier(LifecycleTracking(service: service))
    }

    /// Sends what waits when the app goes to the background, for a client without a service. Once, at the
    /// app's root.
    ///
    /// What cannot be sent in the seconds that the system gives is on disk, and goes out at the next
    /// launch.
    public func flushesInBackground(_ client: AnalyticsClient) -> some View {
      flushesInBackground { await client.flush() }
    }

    /// The same for whatever else has something to send.
    public func flushesInBackground(
      _ flush: @escaping @Sendable () async -> Void
    ) -> some View {
      modifier(BackgroundFlush(flush: flush))
    }
  }

  struct LifecycleTracking: ViewModifier {
    @Environment(\.scenePhase) private var scenePhase
    let service: AnalyticsService

    init(service: AnalyticsService) { self.service = service }

    func body(content: Content) -> some View {
      content.onChange(of: scenePhase) { _, phase in
        switch phase {
        case .active: service.applicationForegrounded()
        case .background: service.applicationBackgrounded()
        default: break
        }
      }
    }
  }

  struct BackgroundFlush: ViewModifier {
    @Environment(\.scenePhase) private var scenePhase
    let flush: @Sendable () async -> Void

    init(flush: @escaping @Sendable () async -> Void) { self.flush = flush }

    func body(content: Content) -> some View {
      content.onChange(of: scenePhase) { _, phase in
        guard phase == .background else { return }
        let flush = flush
        Task { await flush() }
      }
    }
  }
#endif
