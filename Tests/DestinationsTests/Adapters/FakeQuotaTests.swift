internal import DestinationTestSupport
internal import Destinations
internal import HTTPClient
internal import Primitives
internal import Testing

/// The pretended providers' quotas: of a day, which refuse, and of one user, which lose in silence.
@Suite(.timeLimit(.minutes(5)))
struct FakeQuotaTests {
  private static func batch(_ numbers: Range<Int>, user: String = "u") -> HTTPCall {
    let events = numbers.map {
      #"{"type":"track","event":"E","userId":"\#(user)","messageId":"m\#($0)"}"#
    }
    return HTTPCall(
      "/v1/batch", headers: [HTTPHeader("Authorization", "Basic a2V5Og==")],
      body: Array("{\"batch\":[\(events.joined(separator: ","))]}".utf8))
  }

  private static func send(_ call: HTTPCall, _ fake: FakeServer<FakeSegment>) throws -> HTTPReply {
    var call = call
    call.url = fake.url + call.url
    return try FakeTests.send(call)
  }

  @Test func `a day's quota refuses the request that goes beyond it, until it is raised`() throws {
    var provider = FakeSegment(writeKey: "key")
    provider.quota = FakeQuota(daily: 5)
    let fake = try FakeServer(provider)
    #expect(try Self.send(Self.batch(0..<3), fake).status == 200)
    let reply = try Self.send(Self.batch(3..<6), fake)
    #expect(reply.status == 429)
    let wait = try #require(reply.header("retry-after").flatMap { Int($0) })
    #expect((1...86_400).contains(wait))
    #expect(fake.ledger.ids == ["m0", "m1", "m2"])
    fake.change { $0.quota.daily = 6 }
    #expect(try Self.send(Self.batch(3..<6), fake).status == 200)
    #expect(fake.ledger.ids.count == 6)
  }

  @Test func `what a user has beyond the quota is lost with a success, and listed`() throws {
    var provider = FakeSegment(writeKey: "key")
    provider.quota = FakeQuota(perUser: 2)
    let fake = try FakeServer(provider)
    #expect(try Self.send(Self.batch(0..<3), fake).status == 200)
    #expect(try Self.send(Self.batch(3..<4, user: "other"), fake).status == 200)
    #expect(fake.ledger.ids == ["m0", "m1", "m3"])
    #expect(fake.ledger.silentDrops.map(\.id) == ["m2"])
  }

  @Test func `Mixpanel's quota of a day is a 429 in its own words`() throws {
    var provider = FakeMixpanel()
    provider.quota = FakeQuota(perUser: 1, daily: 2)
    let fake = try FakeServer(provider)
    var adapter = try FakeTests.mixpanel(fake)
    #expect(
      try FakeTests.send([Sample.track(), Sample.track(id: "m2")], by: &adapter) == .delivered)
    #expect(fake.ledger.silentDrops.map(\.reason) == ["renamed $hotshard_events"])
    guard case .pause(nil, let reason) = try FakeTests.send([Sample.track(id: "m3")], by: &adapter)
    else {
      Issue.record("no pause")
      return
    }
    #expect(reason.contains("daily quota"))
  }
}
