#if canImport(SwiftUI)
  public import Analytics
  public import SwiftUI

  extension View {
    /// Sends what waits when the app goes to the background. Once, at the app's root.
    ///
    /// What cannot be sent in the seconds that the system gives is on disk, and goes out at the next
    /// launch.
    public func flushesInBackground(_ client: AnalyticsClient) -> some View {
      flushesInBackground { await client.flush() }
    }

    /// The same for a service, or whatever else has something to send.
    public func flushesInBackground(
      _ flush: @escaping @Sendable () async -> Void
    ) -> some View {
      modifier(BackgroundFlush(flush: flush))
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
