// Made from version 7 of the tracking plan by `eventbus plan export`.
public import EventModel

extension EventType {
  /// The buyer confirmed the order.
  public struct OrderPlaced: PublishableEvent, SubscribableEvent, Hashable {
    public static let eventType: EventType = "Order Placed"

    public enum PaymentKind: String, Sendable, Hashable, CaseIterable {
      case card = "card"
      case invoice = "invoice"
    }

    /// in euros
    public var total: Double
    public var coupon: PropertyValue?
    public var paymentKind: PaymentKind
    public var placedAt: Timestamp?
    public var `class`: Bool?

    public init(
      total: Double,
      coupon: PropertyValue? = nil,
      paymentKind: PaymentKind,
      placedAt: Timestamp? = nil,
      class: Bool? = nil
    ) {
      self.total = total
      self.coupon = coupon
      self.paymentKind = paymentKind
      self.placedAt = placedAt
      self.`class` = `class`
    }

    public init(properties: PropertyReader) throws(EventDecodingError) {
      self.total = try properties.read("total")
      self.coupon = try properties.value("coupon")
      self.paymentKind = try properties.read("Payment Kind")
      self.placedAt = try properties.readIfPresent("placedAt")
      self.`class` = try properties.readIfPresent("class")
    }

    public func encodeProperties(
      into writer: inout PropertyWriter
    ) throws(EventEncodingError) {
      writer.write("total", total)
      if let coupon { writer.write("coupon", coupon) }
      writer.write("Payment Kind", paymentKind)
      if let placedAt { writer.write("placedAt", placedAt) }
      if let `class` { writer.write("class", `class`) }
    }
  }

  public struct BannerTapped: PublishableEvent, SubscribableEvent, Hashable {
    public static let eventType: EventType = "Banner Tapped"

    public init() {}

    public init(properties: PropertyReader) {}
  }

  public struct AppOpened: PublishableEvent, SubscribableEvent, Hashable {
    public static let eventType: EventType = "App Opened"

    public init() {}

    public init(properties: PropertyReader) {}
  }
}
