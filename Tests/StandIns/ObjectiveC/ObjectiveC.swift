// What this package uses of the Objective-C runtime, in the same shape, for type-checking on systems
// without it. Nothing of it does anything.

public struct Selector: ExpressibleByStringLiteral, Hashable, Sendable {
  public init(_ name: String) {}
  public init(stringLiteral name: String) {}
}

@objc public protocol NSObjectProtocol {
  func responds(to selector: Selector!) -> Bool
}

@objc open class NSObject: NSObjectProtocol {
  public init() {}
  open func responds(to selector: Selector!) -> Bool { false }
  open func forwardingTarget(for selector: Selector!) -> Any? { nil }
}

@objc open class NSString: NSObject {}

public typealias Method = OpaquePointer

public func class_getInstanceMethod(_ type: AnyClass?, _ name: Selector) -> Method? { nil }
public func class_getClassMethod(_ type: AnyClass?, _ name: Selector) -> Method? { nil }
public func method_exchangeImplementations(_ a: Method, _ b: Method) {}
