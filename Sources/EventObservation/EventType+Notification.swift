#if canImport(Foundation)
  public import Foundation
  public import EventModel

  // The names that `NotificationCenter` knows, so that an app moves over event by event.
  extension EventType {
    public var notificationName: Notification.Name { Notification.Name(rawValue) }

    public init(notificationName: Notification.Name) { self.init(notificationName.rawValue) }
  }
#endif
