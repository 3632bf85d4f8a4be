internal import HTTPClient
internal import Testing

@Suite struct EndpointTests {
  @Test func `paths and parameters go behind what was given`() throws {
    let endpoint = try HTTPEndpoint("HTTPS://Host:8443/base//?a=1")
    #expect(endpoint.url("/v1/batch", query: "b=2") == "https://Host:8443/base/v1/batch?b=2&a=1")
    #expect(endpoint.host == "Host:8443" && endpoint.isEncrypted)
    #expect(try HTTPEndpoint("http://h").url() == "http://h")
    #expect(try HTTPEndpoint("http://h/").url("/x") == "http://h/x")
  }

  @Test(arguments: [
    ("http://127.0.0.1:80", true), ("http://[::1]:8080/x", true), ("http://localhost", true),
    ("http://localhost.example", false), ("http://127.evil.example", false),
    ("https://api.segment.io", false),
  ])
  func `an address of this machine is known`(_ sample: (url: String, isLoopback: Bool)) throws {
    #expect(try HTTPEndpoint(sample.url).isLoopback == sample.isLoopback)
  }
}
