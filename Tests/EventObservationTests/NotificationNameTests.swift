import EventModel
import EventObservation
import Foundation
import Synchronization
import Testing

/// `NotificationCenter` and the bus call an event by one name.
struct NotificationNameTests {
  @Test(arguments: ["Game Started", "a\u{301}", "$pageview", " padded ", "\u{1F3AE}"])
  func `a notification's name is the event's, both ways`(_ text: String) {
    let type = EventType(text)
    #expect(type.notificationName.rawValue.utf8.elementsEqual(text.utf8))
    #expect(EventType(notificationName: Notification.Name(text)) == type)
    #expect(
      EventType(notificationName: type.notificationName).rawValue.utf8.elementsEqual(text.utf8))
  }

  @Test func `a notification posted by that name is observed by it`() {
    let center = NotificationCenter()
    let heard = Mutex<[String]>([])
    let token = center.addObserver(
      forName: EventType.GameStarted.eventType.notificationName, object: nil, queue: nil
    ) { notification in
      let name = notification.name.rawValue
      heard.withLock { $0.append(name) }
    }
    center.post(name: EventType("Game Started").notificationName, object: nil)
    center.post(name: EventType("Game Ended").notificationName, object: nil)
    center.removeObserver(token)
    #expect(heard.withLock { $0 } == ["Game Started"])
  }
}
