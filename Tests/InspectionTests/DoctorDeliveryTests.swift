import BusProtocol
import Testing

@testable import Inspection

/// What the doctor says of a destination that does not take events, and of one that nobody uses any more.
@Suite struct DoctorDeliveryTests {
  private static func facts(
    _ state: String, waits seconds: Int64?, lag: UInt64 = 5, isRunning: Bool = true
  ) -> DoctorFacts {
    let consumer = DoctorTests.consumer(
      "segment", cursor: 100, lag: lag, connected: isRunning)
    let status = DoctorTests.status { $0["consumers"] = .list([.map(consumer)]) }
    var sink = DoctorTests.sink()
    sink.name = "segment"
    var delivery = DoctorFacts.Delivery(folder: "data/destinations/segment")
    delivery.isRunning = isRunning
    delivery.state = state
    delivery.reason = state == "delivering" ? "" : "Failed to connect"
    var facts = DoctorTests.facts(status, sinks: [sink])
    delivery.oldest = seconds.map { facts.now - $0 * 1_000_000_000 }
    facts.sinks[0].delivery = delivery
    return facts
  }

  private static func check(_ name: String, _ facts: DoctorFacts) throws -> DoctorCheck {
    try #require(Doctor.checks(facts).first { $0.name == name })
  }

  @Test(
    arguments: [
      ("delivering", nil, .ok), ("delivering", 3, .ok), ("backing-off", 119, .note),
      ("paused", 600, .note), ("backing-off", 601, .failed), ("delivering", 601, .failed),
      ("configuration-error", 1, .failed), ("store-error", nil, .failed),
    ] as [(String, Int64?, DoctorCheck.Outcome)])
  func `a destination that is away is a note, and a failure once an event has waited ten minutes`(
    _ row: (state: String, waits: Int64?, outcome: DoctorCheck.Outcome)
  ) throws {
    let check = try Self.check("destination segment", Self.facts(row.state, waits: row.waits))
    #expect(check.outcome == row.outcome, "\(check)")
    #expect(check.finding.hasPrefix(row.state))
    #expect(check.finding.contains("Failed to connect") == (row.state != "delivering"))
    if let waits = row.waits { #expect(check.finding.contains("has waited \(waits) s")) }
    #expect(check.advice.isEmpty == (row.outcome == .ok))
  }

  @Test func `the lag of a destination that is away has its reason`() throws {
    let away = try Self.check("lag segment", Self.facts("backing-off", waits: 45, lag: 2_000_000))
    #expect(away.outcome == .failed)
    #expect(away.finding.contains("Failed to connect"))
    #expect(!away.advice.contains("CPU"))
    let slow = try Self.check("lag segment", Self.facts("delivering", waits: 45, lag: 2_000_000))
    #expect(slow.advice.contains("too slow or stuck"))
  }

  @Test func `whoever retires a destination is told of its subscriber and of its folder`() throws {
    var facts = Self.facts("delivering", waits: nil, isRunning: false)
    facts.services = [.init(name: "segment", address: "a", isExpected: true, answer: .down)]
    for name in ["lag segment", "service segment"] {
      let check = try Self.check(name, facts)
      #expect(check.outcome == .failed)
      #expect(check.advice.contains("consumers delete 'segment'"), "\(check)")
      #expect(check.advice.contains("data/destinations/segment"), "\(check)")
    }
  }

  @Test(
    arguments: [
      (49, 80, DoctorCheck.Outcome.note), (30, 80, .failed), (200, 100_000, .failed),
      (1500, 100_000, .note), (300, 400, .ok),
    ] as [(UInt64, UInt64, DoctorCheck.Outcome)])
  func `a small disk that is mostly free does not fail`(
    _ row: (free: UInt64, total: UInt64, outcome: DoctorCheck.Outcome)
  ) throws {
    var facts = DoctorTests.facts()
    facts.disk = .init(free: row.free << 20, total: row.total << 20, freeFiles: 9)
    let check = try Self.check("disk", facts)
    #expect(check.outcome == row.outcome, "\(check)")
    #expect(check.finding.contains("less than") == (row.outcome != .ok))
  }

  @Test func `not ready is said once`() throws {
    var facts = DoctorTests.facts()
    facts.services = [
      .init(name: "archiver", address: "a", isExpected: true, answer: .notReady("not ready"))
    ]
    let finding = try Self.check("service archiver", facts).finding
    #expect(finding == "runs at a, but is not ready")
  }
}
