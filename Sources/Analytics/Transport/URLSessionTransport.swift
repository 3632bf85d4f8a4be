// What Apple's systems bring themselves; CurlTransport.swift is Linux's.
#if canImport(Darwin)
  internal import Foundation

  /// The transport on Apple's systems: one ephemeral session, no cache, no cookies, no redirects.
  final class URLSessionTransport: NSObject, AnalyticsTransport, URLSessionTaskDelegate {
    private let session: URLSession

    init(timeout: Duration) {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForRequest = Double(timeout.components.seconds)
      configuration.timeoutIntervalForResource = Double(timeout.components.seconds)
      configuration.httpMaximumConnectionsPerHost = 1
      configuration.waitsForConnectivity = false
      session = URLSession(configuration: configuration)
    }

    deinit { session.finishTasksAndInvalidate() }

    func send(
      _ request: AnalyticsRequest
    ) async throws(AnalyticsTransportError) -> AnalyticsResponse {
      guard let url = URL(string: request.url) else {
        throw AnalyticsTransportError("\(request.url) is no address")
      }
      var message = URLRequest(url: url)
      message.httpMethod = request.method
      if !request.body.isEmpty { message.httpBody = Data(request.body) }
      for header in request.headers {
        message.setValue(header.value, forHTTPHeaderField: header.name)
      }
      let answer: (data: Data, response: URLResponse)
      do {
        answer = try await session.data(for: message, delegate: self)
      } catch {
        throw AnalyticsTransportError(error.localizedDescription)
      }
      guard let response = answer.response as? HTTPURLResponse else {
        throw AnalyticsTransportError("the answer is no HTTP")
      }
      let headers = response.allHeaderFields.compactMap { name, value in
        (name as? String).map { AnalyticsRequest.Header($0, "\(value)") }
      }
      return AnalyticsResponse(
        status: response.statusCode, headers: headers, body: Array(answer.data))
    }

    /// A POST would become a GET on its way: the redirect itself is the answer.
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest
    ) async -> URLRequest? { nil }
  }
#endif
