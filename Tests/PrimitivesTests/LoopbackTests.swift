internal import Primitives
internal import Testing

struct LoopbackTests {
  @Test(arguments: ["127.0.0.1", "127.1.2.3", "127.9.9.9", "localhost", "::1"])
  func `these reach this machine alone`(host: String) { #expect(Loopback.contains(host)) }

  @Test(arguments: [
    "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "127.example.a.b", "127.0.0.256", "127", "",
    "*", "localhost.example", "127.+1.0.1", "127.evil.example",
    "128.0.0.1", "127.0.0.1\0.example",
  ])
  func `these do not`(host: String) { #expect(!Loopback.contains(host)) }
}
