// Apple's systems bring URLSession; elsewhere it is libcurl, on a thread of its own.
#if os(Linux)
  internal import HTTPClient
  internal import Primitives
  internal import Synchronization

  /// The transport on Linux. Its thread lives as long as it does.
  final class CurlTransport: AnalyticsTransport {
    private struct Order: Sendable {
      var id: UInt64
      var call: HTTPCall
      var answer: @Sendable (Result<AnalyticsResponse, AnalyticsTransportError>) -> Void
    }

    private enum Message: Sendable {
      case send(Order)
      case cancel(UInt64)
      case stop
    }

    private let mailbox: Mailbox<Message>
    private let nextID = Atomic<UInt64>(1)

    init(timeout: Duration) throws(SystemError) {
      let mailbox = try Mailbox<Message>()
      self.mailbox = mailbox
      try OwnedThread(name: "analytics-http") {
        var configuration = HTTPClientConfiguration()
        configuration.totalLimit = timeout
        configuration.userAgent = "eventbus-analytics"
        Self.run(mailbox, configuration)
      }.detach()
    }

    deinit { mailbox.post(.stop) }

    func send(
      _ request: AnalyticsRequest
    ) async throws(AnalyticsTransportError) -> AnalyticsResponse {
      let id = nextID.add(1, ordering: .relaxed).oldValue
      let call = HTTPCall(
        request.url, method: request.method,
        headers: request.headers.map { HTTPHeader($0.name, $0.value) },
        body: request.body)
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          mailbox.post(.send(Order(id: id, call: call) { continuation.resume(returning: $0) }))
        }
      } onCancel: {
        mailbox.post(.cancel(id))
      }
      return try result.get()
    }

    /// The thread: starts what is ordered, moves requests on, answers what has ended.
    private static func run(_ mailbox: Mailbox<Message>, _ configuration: HTTPClientConfiguration) {
      var orders: [HTTPClient.CallID: Order] = [:]
      do throws(HTTPFailure) {
        var client = try HTTPClient(configuration)
        while true {
          mailbox.wake.clear()
          for message in mailbox.takeAll() {
            switch message {
            case .send(let order): start(order, &client, &orders)
            case .cancel(let id): cancel(id, &client, &orders)
            case .stop: return orders.values.forEach { $0.answer(.failure(ended)) }
            }
          }
          for completion in client.wait(.seconds(3600), wakes: [mailbox.wake]) {
            let order = orders.removeValue(forKey: completion.id)
            order?.answer(response(completion.result))
          }
        }
      } catch {
        refuseAll(mailbox, error)
      }
    }

    /// A body that cannot be read takes nothing from the status: the events are there, or they are not.
    private static func response(
      _ result: Result<HTTPReply, HTTPFailure>
    ) -> Result<AnalyticsResponse, AnalyticsTransportError> {
      result.map(AnalyticsResponse.init).flatMapError { failure in
        guard failure.kind == .body, var head = failure.partial else {
          return .failure(.init(failure.description))
        }
        head.body = []
        return .success(AnalyticsResponse(head))
      }
    }

    private static let ended = AnalyticsTransportError("the transport has ended")

    private static func start(
      _ order: Order, _ client: inout HTTPClient, _ orders: inout [HTTPClient.CallID: Order]
    ) {
      do throws(HTTPFailure) {
        orders[try client.start(order.call)] = order
      } catch {
        order.answer(.failure(.init(error.description)))
      }
    }

    private static func cancel(
      _ id: UInt64, _ client: inout HTTPClient, _ orders: inout [HTTPClient.CallID: Order]
    ) {
      guard let call = orders.first(where: { $0.value.id == id })?.key else { return }
      client.cancel(call)
      orders.removeValue(forKey: call)?.answer(.failure(.init("the request was cancelled")))
    }

    /// libcurl could not start: each request is told so, until nobody asks.
    private static func refuseAll(_ mailbox: Mailbox<Message>, _ failure: HTTPFailure) {
      while true {
        mailbox.wake.wait()
        for message in mailbox.takeAll() {
          switch message {
          case .send(let order): order.answer(.failure(.init(failure.description)))
          case .cancel: break
          case .stop: return
          }
        }
      }
    }
  }

  extension AnalyticsResponse {
    fileprivate init(_ reply: HTTPReply) {
      self.init(
        status: reply.status, headers: reply.headers.map { .init($0.name, $0.value) },
        body: reply.body)
    }
  }
#endif
