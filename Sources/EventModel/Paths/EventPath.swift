/// Where in an app's interface something happened: the action, its sender, then the responder chain
/// from the view to the application, and the state that changes the meaning.
///
/// As text (`EventPath+Text.swift` has the layout):
/// `#buttonClick:#UIButton#UIButton[0]#UIView[0]#ViewController#UIWindow[0]#UIApplication#AppDelegate`
/// and behind it the state, `#state=1#enabled=1#selected=0`. Two paths are equal when their texts are,
/// byte for byte.
public struct EventPath: Sendable {
  /// One responder: its class, and for a view its place among its siblings.
  public struct Segment: Hashable, Sendable {
    /// The class, as `UIButton`.
    public var name: String
    /// From 0; nil for what has no siblings, as a view controller.
    public var index: Int?

    /// A responder of the chain.
    public init(_ name: String, index: Int? = nil) {
      self.name = name
      self.index = index
    }

    public static func == (a: Segment, b: Segment) -> Bool {
      a.index == b.index && a.name.hasSameBytes(b.name)
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(bytesOf: name)
      hasher.combine(index)
    }
  }

  /// A name and a value: `state=1`, or a parameter that the app attached to a control.
  public struct State: Hashable, Sendable {
    /// What it is, as `enabled`.
    public var name: String
    /// What it was at that moment.
    public var value: String

    /// A name and its value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    public static func == (a: State, b: State) -> Bool {
      a.name.hasSameBytes(b.name) && a.value.hasSameBytes(b.value)
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(bytesOf: name)
      hasher.combine(bytesOf: value)
    }
  }

  /// What was done, as `buttonClick`.
  public let action: String
  /// The sender, without an index, then the chain from the view outwards. Never empty.
  public let segments: [Segment]
  /// In the order in which it was given. A name may stand twice.
  public let state: [State]

  /// What was read, and checked.
  init(checkedAction action: String, _ segments: [Segment], _ state: [State]) {
    self.action = action
    self.segments = segments
    self.state = state
  }

  /// The path of what happened just now. Never fails, since tracking must not stop an app: what is
  /// beyond ``EventPathLimits`` is cut off, the outermost responders and the last state first. So a
  /// chain that runs in a circle ends too.
  ///
  /// - Parameters:
  ///   - sender: the class of what sent the action, as `UIButton` or `UITapGestureRecognizer`.
  ///   - chain: from the view to the application. Read no further than the limit.
  public init(
    action: String, sender: String, chain: some Sequence<Segment>, state: [State] = []
  ) {
    var room = EventPathLimits.maximumBytes
    self.action = Self.name(action)
    room -= Self.textBytes(self.action) + 2
    var segments: [Segment] = []
    func take(_ segment: Segment) -> Bool {
      let segment = Segment(Self.name(segment.name), index: Self.index(segment.index))
      let bytes = Self.textBytes(segment.name) + (segment.index == nil ? 1 : 13)
      guard segments.count < EventPathLimits.maximumSegments, bytes <= room else { return false }
      room -= bytes
      segments.append(segment)
      return true
    }
    _ = take(Segment(sender))
    for segment in chain {
      guard take(segment) else { break }
    }
    var kept: [State] = []
    for item in state.prefix(EventPathLimits.maximumStates) {
      let item = State(
        Self.name(item.name), Self.cut(item.value, EventPathLimits.maximumValueBytes))
      let bytes = Self.textBytes(item.name) + Self.textBytes(item.value) + 2
      guard bytes <= room else { break }
      room -= bytes
      kept.append(item)
    }
    self.segments = segments
    self.state = kept
  }

  /// The same path with other state.
  public func replacingState(_ state: [State]) -> EventPath {
    EventPath(
      action: action, sender: segments[0].name, chain: segments.dropFirst(), state: state)
  }

  /// The value of the first state of that name.
  public func value(of name: String) -> String? {
    state.first { $0.name.hasSameBytes(name) }?.value
  }

  private static func name(_ name: String) -> String {
    name.isEmpty ? "?" : cut(name, EventPathLimits.maximumNameBytes)
  }

  private static func index(_ index: Int?) -> Int? {
    index.map { min(max(0, $0), EventPathLimits.maximumIndex) }
  }

  /// At most so many bytes, whole characters, no U+0000.
  private static func cut(_ text: String, _ maximum: Int) -> String {
    guard text.utf8.count > maximum || text.utf8.contains(0) else { return text }
    var cut = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars where scalar != "\0" {
      bytes += scalar.utf8.count
      if bytes > maximum { break }
      cut.append(scalar)
    }
    return cut.isEmpty ? "?" : String(cut)
  }
}

/// What a path and a pattern may have. Beyond it a path that is built is cut off, and a text is refused.
public enum EventPathLimits {
  /// Bytes of the text, escapes included.
  public static let maximumBytes = 4096
  /// Responders, the sender included.
  public static let maximumSegments = 128
  /// States and parameters together.
  public static let maximumStates = 32
  /// Bytes of a class, an action, or the name of a state.
  public static let maximumNameBytes = 200
  /// Bytes of a state's value.
  public static let maximumValueBytes = 256
  /// The largest index that is told.
  public static let maximumIndex = 999_999_999
}

extension EventPath: Hashable {}

/// In the order of the texts' bytes.
extension EventPath: Comparable {
  /// By the bytes of the texts.
  public static func < (a: EventPath, b: EventPath) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }
}
