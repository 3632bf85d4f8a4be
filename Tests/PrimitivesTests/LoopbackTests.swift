internal import Primitives
internal import Testing

struct LoopbackTests {
  @Test(arguments: ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
  func `these reach this machine alone`(host: String) { #expect(Loopback.contains(host)) }

  @Test(arguments: [
    "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "127.example.a.b", "127.0.0.256", "127", "",
    "*", "localhost.example",
  ])
  func `these do not`(host: String) { #expect(!Loopback.contains(host)) }
}
