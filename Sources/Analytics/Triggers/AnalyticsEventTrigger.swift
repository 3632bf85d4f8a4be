/// What a person or the system does to a view that makes its events fire.
public enum AnalyticsEventTrigger: String, Sendable, Hashable, CaseIterable, Codable {
  /// The view came into the hierarchy. SwiftUI may call it more than once for one visit.
  case onAppear
  case onDisappear
  /// Once a visit, with the view's own task: the better one for screen views.
  case task
  case onTapGesture
  case onLongPressGesture
  case onDrag
  case onDrop
}
