// What this package uses of SwiftUI, in the same shape, for type-checking on systems without it. Nothing
// of it does anything.
public import UniformTypeIdentifiers

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { standIn() }
}

func standIn() -> Never { preconditionFailure("declarations only") }

@resultBuilder public enum ViewBuilder {
  @MainActor public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<V: View>(_ view: V) -> V { view }
  @MainActor public static func buildBlock<each V: View>(_ views: repeat each V) -> EmptyView {
    EmptyView()
  }
}

public struct EmptyView: View {
  public init() {}
  public var body: Never { standIn() }
}

public struct Text: View {
  public init(_ text: String) {}
  public var body: Never { standIn() }
}

public struct Button<Label: View>: View {
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
  public var body: Never { standIn() }
}

extension Button where Label == Text {
  public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}

public struct VStack<Content: View>: View {
  public init(@ViewBuilder content: () -> Content) {}
  public var body: Never { standIn() }
}

public struct Binding<Value> {
  public static func constant(_ value: Value) -> Binding<Value> { standIn() }
}

// Environment.

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

public struct EnvironmentValues: Sendable {
  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get { K.defaultValue }
    set {}
  }
  public var scenePhase: ScenePhase { .active }
}

@propertyWrapper public struct Environment<Value> {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
  public var wrappedValue: Value { standIn() }
}

public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

// Modifiers.

@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = _ViewModifier_Content<Self>
  @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}

public struct _ViewModifier_Content<Modifier: ViewModifier>: View {
  public var body: Never { standIn() }
}

extension View {
  nonisolated public func modifier<T>(_ modifier: T) -> some View { standInView() }
  nonisolated public func environment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V
  ) -> some View { standInView() }
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    standInView()
  }
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    standInView()
  }
  nonisolated public func task(
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @Sendable () async -> Void
  ) -> some View { standInView() }
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void
  ) -> some View { standInView() }
  nonisolated public func onTapGesture(
    count: Int = 1, perform action: @escaping () -> Void
  ) -> some View { standInView() }
  nonisolated public func simultaneousGesture<T: Gesture>(
    _ gesture: T, including mask: GestureMask = .all
  ) -> some View { standInView() }
  nonisolated public func onDrag(_ data: @escaping () -> NSItemProvider) -> some View {
    standInView()
  }
  nonisolated public func onDrop(
    of types: [UTType], isTargeted: Binding<Bool>?,
    perform action: @escaping (_ providers: [NSItemProvider]) -> Bool
  ) -> some View { standInView() }
}

nonisolated func standInView() -> StandInView { StandInView() }

public struct StandInView: View {
  nonisolated init() {}
  public var body: Never { standIn() }
}

// Gestures.

@MainActor @preconcurrency public protocol Gesture<Value> {
  associatedtype Value
}

extension Gesture {
  nonisolated public func onEnded(_ action: @escaping (Value) -> Void) -> some Gesture<Value> {
    EndedGesture<Value>()
  }
}

public struct EndedGesture<Value>: Gesture {
  nonisolated init() {}
}

public struct TapGesture: Gesture {
  public typealias Value = Void
  nonisolated public init(count: Int = 1) {}
}

public struct LongPressGesture: Gesture {
  public typealias Value = Bool
  nonisolated public init(minimumDuration: Double = 0.5) {}
}

public struct GestureMask: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let none: GestureMask = []
  public static let gesture = GestureMask(rawValue: 1)
  public static let subviews = GestureMask(rawValue: 2)
  public static let all = GestureMask(rawValue: 3)
}

// Foundation's.

open class NSItemProvider {
  public init() {}
}
