import BusProtocol
import Primitives
import Testing

@testable import BusClient

/// What an operator reads of a connection: each thing once.
struct BusLinkTests {
  private static let connected = ConnectionNotice.connected(broker: BrokerDescription())
  private static func denied(_ text: String) -> ConnectionNotice {
    .refusedForNow(code: RefusalCode.denied.rawValue, text: text)
  }

  /// The keys of what is told for these notices, and the state behind them.
  private func told(_ notices: [ConnectionNotice]) -> ([String], BusLink) {
    var link = BusLink(address: "tcp://here")
    return (notices.compactMap { link.take($0)?.key }, link)
  }

  @Test(
    arguments: [
      ([connected], [], .connected),
      ([.absent, .absent, connected], ["bus.absent", "bus.answers"], .connected),
      ([connected, .silent(missedHeartbeats: 0)], [], .connecting),
      ([connected, .silent(missedHeartbeats: 3), .absent], ["bus.absent"], .absent),
      ([connected, .sessionLost, connected], ["bus.session"], .connected),
      ([denied("a"), denied("a"), connected], ["bus.denied", "bus.answers"], .connected),
      ([denied("a"), denied("b")], ["bus.denied", "bus.denied"], .denied),
      ([denied("a"), .absent], ["bus.denied", "bus.absent"], .absent),
      ([connected, .caughtUp(head: 3)], [], .connected),
    ] as [([ConnectionNotice], [String], BusLink.State)])
  func `each state is told when it begins and when it ends`(
    _ notices: [ConnectionNotice], _ keys: [String], _ state: BusLink.State
  ) {
    let (told, link) = told(notices)
    #expect(told == keys)
    #expect(link.state == state)
    #expect(link.trouble.isEmpty == (state == .connected || state == .connecting))
  }

  @Test func `what a broker asks to wait for is told once until the session is made anew`() {
    func wait(_ code: String) -> ConnectionNotice { .refusedForNow(code: code, text: "later") }
    #expect(told([wait("A"), wait("A"), wait("A")]).0 == ["bus.waiting"])
    #expect(told([wait("A"), wait("B"), wait("B")]).0 == ["bus.waiting", "bus.waiting"])
    #expect(told([wait("A"), Self.connected, wait("A")]).0 == ["bus.waiting", "bus.waiting"])
    #expect(
      told([wait("A"), .absent, wait("A")]).0 == ["bus.waiting", "bus.absent", "bus.waiting"])
  }

  @Test func `a broker that asks to wait says why, and is forgotten once it takes the session`() {
    let full = ConnectionNotice.refusedForNow(code: "DISK_FULL", text: "no room")
    let (keys, link) = told([full])
    #expect(keys == ["bus.waiting"] && link.state == .connecting)
    #expect(link.trouble.contains("DISK_FULL") && link.trouble.contains("no room"))
    // While the session stands it concerns events, not the connection.
    #expect(told([full, Self.connected, full]).1.state == .connected)
    #expect(told([full, Self.connected, full]).1.trouble.isEmpty)
  }
}
