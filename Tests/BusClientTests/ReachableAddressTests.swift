import Testing

@testable import BusClient

struct ReachableAddressTests {
  @Test(arguments: [
    ("tcp://0.0.0.0:7401", "tcp://10.1.2.3:7400", "tcp://10.1.2.3:7401"),
    ("tcp://[::]:7401", "tcp://[fe80::1]:7400", "tcp://[fe80::1]:7401"),
    ("tcp://0.0.0.0:7401", "tcp://bus.example:7400", "tcp://bus.example:7401"),
    ("tcp://127.0.0.1:7401", "tcp://10.1.2.3:7400", "tcp://127.0.0.1:7401"),
    ("tcp://0.0.0.0:7401", "ipc:///bus", "tcp://0.0.0.0:7401"),
  ])
  func `an address of all interfaces is reached as the bus was`(
    stated: String, known: String, reached: String
  ) {
    #expect(ReachableAddress.of(stated, through: known) == reached)
  }
}
