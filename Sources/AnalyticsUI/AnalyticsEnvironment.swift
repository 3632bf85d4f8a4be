#if canImport(SwiftUI)
  public import Analytics
  public import SwiftUI

  private struct AnalyticsKey: EnvironmentKey {
    // A preview, or a view that nobody gave a service, must not reach a real stream.
    static let defaultValue: any AnalyticsEventSending = SilentAnalytics()
  }

  extension EnvironmentValues {
    /// Where views send their events; sends nothing until an app sets it, as previews never do.
    public var analytics: any AnalyticsEventSending {
      get { self[AnalyticsKey.self] }
      set { self[AnalyticsKey.self] = newValue }
    }
  }

  extension View {
    /// Gives this view and all inside it the service that their events go to. Once, at the app's root.
    public func analytics(_ analytics: any AnalyticsEventSending) -> some View {
      environment(\.analytics, analytics)
    }
  }
#endif
