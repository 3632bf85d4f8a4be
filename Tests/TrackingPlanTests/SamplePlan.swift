import EventModel
import TrackingPlan

/// The plan of the tests.
enum SamplePlan {
  static let text = """
    {
      "version": 7,
      "events": {
        "Order Placed": {
          "description": "The buyer confirmed the order.",
          "properties": {
            "total": {"type": "number", "required": true, "description": "in euros"},
            "coupon": {"type": ["string", "null"]},
            "Payment Kind": {"type": "string", "required": true, "values": ["card", "invoice"]},
            "placedAt": {"type": "date"},
            "class": {"type": "boolean"}
          }
        },
        "Banner Tapped": {"others": true},
        "App Opened": {}
      },
      "collection": {
        "events": [
          {"event": "Order Placed",
           "paths": ["#buttonClick:#UIButton#...#CheckoutViewController#...",
                     "#buttonClick:#PayButton#...#CartViewController#...#currentTitle=Pay*"],
           "properties": {"total": "viewController.cart.total",
                          "coupon": {"state": "coupon"},
                          "Payment Kind": {"value": "card"}}},
          {"event": "Banner Tapped",
           "paths": ["#tap:#UITapGestureRecognizer#BannerView[*]#..."],
           "properties": {"url": {"state": "url"}, "place": {"value": 3}}}
        ],
        "exclude": {"screens": ["Login*"], "paths": ["#*:#...#PinPad[*]#..."]},
        "mask": ["amount*"]
      }
    }

    """

  static func plan() throws -> PlanDocument { try PlanDocument(parsing: Array(text.utf8)) }

  static func rules() throws -> CollectionRules { CollectionRules(try plan().collection) }
}
