import ServiceRuntime
import Testing

@Suite struct ArgumentValueTests {
  @Test(arguments: [
    ("0", 0), ("4096", 4096), ("512KiB", 524_288), ("64MiB", 67_108_864), ("10GiB", 10_737_418_240),
    ("10gib", 10_737_418_240), ("1.5k", 1536), ("2MB", 2_000_000), ("1TiB", 1_099_511_627_776),
  ])
  func `sizes are read`(text: String, bytes: Int) {
    #expect(ByteSize(argument: text)?.bytes == bytes)
  }

  @Test(arguments: [
    "", "-1", "KiB", "1 KiB", "1.", ".5k", "1.2.3", "10XiB", "99999999999GiB", "0x10", "1e3", "nan",
  ])
  func `what is no size is refused`(text: String) {
    #expect(ByteSize(argument: text) == nil)
  }

  @Test(arguments: [(0, "0"), (1000, "1000"), (524_288, "512KiB"), (10 << 30, "10GiB")])
  func `a size is written in the largest unit that divides it`(bytes: Int, text: String) {
    #expect(ByteSize(bytes: bytes).description == text)
  }

  @Test(arguments: [
    ("500ms", 500_000_000), ("2s", 2_000_000_000), ("10m", 600_000_000_000),
    ("7d", 604_800_000_000_000), ("1.5h", 5_400_000_000_000), ("3", 3_000_000_000),
    ("90us", 90_000),
  ])
  func `durations are read`(text: String, nanoseconds: Int) {
    #expect(Duration(argument: text) == .nanoseconds(nanoseconds))
  }

  @Test(arguments: ["", "m", "-2s", "10 m", "10M", "7days", "999999999999d"])
  func `what is no duration is refused`(text: String) {
    #expect(Duration(argument: text) == nil)
  }

  @Test(arguments: [
    ("1000", 1000.0), ("50k", 50_000), ("1.5M", 1_500_000), ("600/m", 10), ("2k/s", 2000),
  ])
  func `rates are read`(text: String, perSecond: Double) {
    #expect(Rate(argument: text)?.perSecond == perSecond)
  }

  @Test(arguments: ["0", "", "k", "5/y", "-5", "inf"])
  func `what is no rate is refused`(text: String) {
    #expect(Rate(argument: text) == nil)
  }

  @Test(arguments: [
    ("127.0.0.1:7410", "127.0.0.1", UInt16(7410)), ("localhost:0", "localhost", 0),
    ("[::1]:80", "::1", 80),
  ])
  func `addresses are read and written`(text: String, host: String, port: UInt16) {
    #expect(HostPort(argument: text) == HostPort(host: host, port: port))
    #expect(HostPort(host: host, port: port).description == text)
  }

  @Test(arguments: ["", "host", ":80", "host:", "host:65536", "::1:80", "a b:1", "host:-1"])
  func `what is no address is refused`(text: String) {
    #expect(HostPort(argument: text) == nil)
  }
}
