import Destinations
import ServiceRuntime

extension DestinationDefinition {
  static let segment = DestinationDefinition(
    name: "segment", summary: "Sends events to Segment, in order, each at least once.",
    portDistance: 40,
    options: .secret("write-key", "The source's write key.")
      + [
        .option(
          "region", "REGION", help: "Where the workspace lives. The wrong one loses events.",
          default: "us", choices: SegmentConfiguration.Region.allCases.map(\.rawValue))
      ]
      + .destination(
        endpoint: "Server, without a path, that requests go to. Default: the region's own.", gzip: 4
      ),
    examples: [
      CommandExample(
        "eventbus segment --write-key-file key --region eu", "Everything, to the EU."),
      CommandExample(
        "eventbus segment --events 'Game *' --mapping map.json", "Some events, renamed."),
    ],
    make: { context, mapping in
      let options = DestinationOptions(context: context)
      let region =
        SegmentConfiguration.Region(rawValue: try context.arguments.requiredText("region")) ?? .us
      let endpoint = try options.endpoint(usual: region.address)
      return Setup(
        adapter: SegmentAdapter(
          SegmentConfiguration(
            endpoint: endpoint, writeKey: try options.requiredSecret("write-key"),
            gzipLevel: try options.gzipLevel(), mapping: mapping)), endpoint: endpoint)
    })
}
