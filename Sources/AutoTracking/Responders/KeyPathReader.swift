internal import EventModel

/// Reads values by key paths that the plan names, such as `viewController.banner.url`.
///
/// By reflection: stored properties by their names, elements of lists by their numbers. Never raises,
/// whatever the plan says; what cannot be read is left out and counted. Some microseconds a key.
@MainActor
public enum KeyPathReader {
  /// Bytes of a text that is read; more is cut.
  public static let maximumTextBytes = 1024
  /// Stored properties, or elements, that are looked at for one key.
  static let maximumChildren = 1000

  /// Follows `keys` from `object`. Nil where one of them is not there, where one of the objects on the way
  /// is masked or excluded, or where the last value is no property.
  static func value(_ keys: some Sequence<String>, from object: Any) -> PropertyValue? {
    var object: Any = object
    for key in keys {
      guard let next = step(object, key) else { return nil }
      object = next
    }
    return property(object)
  }

  private static func step(_ object: Any, _ key: String) -> Any? {
    let next: Any?
    if let responder = object as? any TrackedResponder {
      next = responder.trackedValue(forKey: key)
    } else {
      next = child(of: object, key)
    }
    guard let next, let value = unwrapped(next) else { return nil }
    // A view is masked by what it is inside of, wherever the key path finds it.
    if let responder = value as? any TrackedResponder,
      ResponderChain(from: responder).privacy != .open
    {
      return nil
    }
    return value
  }

  /// The stored property or the element called `key`, of the object's class or a superclass.
  public static func child(of object: Any, _ key: String) -> Any? {
    if let properties = object as? PropertyObject { return properties[key] }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      if let value = child(of: current, key) { return value }
      mirror = current.superclassMirror
    }
    return nil
  }

  private static func child(of mirror: Mirror, _ key: String) -> Any? {
    if mirror.displayStyle == .collection || mirror.displayStyle == .set {
      guard let number = Int(key), number >= 0, number < maximumChildren else { return nil }
      return mirror.children.dropFirst(number).first?.value
    }
    // What the compiler calls a lazy property, and what it keeps a wrapped one in.
    let lazyKey = "$__lazy_storage_$_\(key)"
    for child in mirror.children.prefix(maximumChildren) {
      if child.label == key || child.label == lazyKey { return child.value }
      if mirror.displayStyle == .dictionary, let pair = child.value as? (key: String, value: Any),
        pair.key == key
      {
        return pair.value
      }
    }
    return nil
  }

  private static func unwrapped(_ value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return mirror.children.first.flatMap { unwrapped($0.value) }
  }

  /// What can be told as a property: the plain types, enums by their raw values, and what describes itself
  /// without loss, as addresses do. Objects cannot.
  static func property(_ value: Any) -> PropertyValue? {
    switch value {
    case let value as PropertyValue: return value
    case let value as PropertyObject: return .object(value)
    case let value as Timestamp: return .date(value)
    case let value as Bool: return .bool(value)
    case let value as any BinaryInteger:
      return Int64(exactly: value).map(PropertyValue.int)
        ?? UInt64(exactly: value).map(PropertyValue.uint)
    case let value as Double: return .double(value)
    case let value as Float: return .double(Double(value))
    case let value as any StringProtocol: return .string(cut(String(value)))
    case let value as any RawRepresentable: return property(value.rawValue)
    case let value as any CustomStringConvertible:
      // An object's description may hold anything.
      guard Mirror(reflecting: value).displayStyle != .class else { return nil }
      return .string(cut(value.description))
    default: return nil
    }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > maximumTextBytes else { return text }
    var bytes = 0
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix {
          bytes += $0.utf8.count
          return bytes <= maximumTextBytes
        }))
  }
}
