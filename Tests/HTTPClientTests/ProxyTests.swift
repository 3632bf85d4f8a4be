internal import DestinationTestSupport
internal import HTTPClient
internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

@Suite struct ProxyTests {
  /// In a process of its own, whose environment is nobody else's.
  @Test func `a proxy is taken from the environment, but for the hosts that it names`() async {
    await #expect(processExitsWith: .success) { try callByProxy() }
  }
}

private func callByProxy() throws {
  let proxy = try StubServer { request in .json(request.path) }
  let server = try StubServer { _ in .json("itself") }
  try set("http_proxy", proxy.url)
  try set("no_proxy", "127.0.0.1")
  let caller = try Caller()
  let through = try caller.reply(HTTPCall("http://no-such-host.invalid/v1"))
  #expect(String(decoding: through.body, as: UTF8.self) == "http://no-such-host.invalid/v1")
  let past = try caller.reply(HTTPCall(server.url))
  #expect(String(decoding: past.body, as: UTF8.self) == "itself")
}

private func set(_ name: String, _ value: String) throws {
  let result = unsafe setenv(name, value, 1)
  try #require(result == 0)
}
