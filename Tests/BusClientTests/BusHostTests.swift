import Testing

@testable import BusClient

/// The host in a bus's address, and what is said of one that nobody knows.
struct BusHostTests {
  @Test(arguments: [
    ("tcp://here:7400", "here"), ("tcp://127.0.0.1:7400", "127.0.0.1"),
    ("tcp://[::1]:7400", "::1"), ("tcp://eth0:0;there.example:7400", "there.example"),
    ("tcp://*:7400", nil), ("ipc:///run/bus", nil), ("tcp://7400", nil), ("tcp://", nil),
  ])
  func `the host of an address is found`(_ address: String, _ host: String?) {
    #expect(BusHost.name(in: address) == host)
  }

  @Test func `only a host that nobody knows is called unknown`() {
    // With its empty label no name server is asked.
    let why = BusHost.whySilent("tcp://no..such-host.invalid:7400")
    #expect(why.hasPrefix("unknown host 'no..such-host.invalid' ("))
    #expect(why.contains("correct the address"))
    #expect(BusHost.whySilent("tcp://127.0.0.1:7400") == "is `eventbus broker` running there?")
    #expect(BusHost.unknown(in: "tcp://[::1]:7400") == nil)
  }
}
