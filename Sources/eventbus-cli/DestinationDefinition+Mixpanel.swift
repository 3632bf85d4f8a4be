import Destinations
import ServiceRuntime

extension DestinationDefinition {
  static let mixpanel = DestinationDefinition(
    name: "mixpanel", summary: "Sends events to Mixpanel's import, in order, each at least once.",
    portDistance: 41,
    options: [
      .option("project-id", "ID", help: "The project, for a service account."),
      .option("username", "NAME", help: "The service account's name."),
    ]
      + .secret("secret", "The service account's secret.")
      + .secret("token", "The project's token, in place of a service account.")
      + [
        .option(
          "region", "REGION", help: "Where the project lives.", default: "us",
          choices: MixpanelConfiguration.Region.allCases.map(\.rawValue))
      ]
      + .destination(
        endpoint: "Server, without a path, that requests go to. Default: the region's own.", gzip: 4
      ),
    examples: [
      CommandExample(
        "eventbus mixpanel --project-id 7 --username bus.1a2b --secret-file secret",
        "With a service account."),
      CommandExample("eventbus mixpanel --token-file token --region eu", "With a token."),
    ],
    make: { context, mapping in
      let options = DestinationOptions(context: context)
      let region =
        MixpanelConfiguration.Region(rawValue: try context.arguments.requiredText("region")) ?? .us
      let endpoint = try options.endpoint(usual: region.address)
      return Setup(
        adapter: MixpanelAdapter(
          MixpanelConfiguration(
            endpoint: endpoint, credential: try mixpanelCredential(options),
            gzipLevel: try options.gzipLevel(), mapping: mapping)), endpoint: endpoint)
    })

  private static func mixpanelCredential(
    _ options: DestinationOptions
  ) throws -> MixpanelConfiguration.Credential {
    let arguments = options.context.arguments
    if let user = arguments.text("username") {
      let project = try arguments.requiredText("project-id")
      guard !project.isEmpty, project.utf8.allSatisfy({ (48...57).contains($0) }) else {
        throw UsageError("--project-id must be a number, not '\(project)'")
      }
      guard !user.contains(":") else { throw UsageError("--username must have no colon") }
      return .serviceAccount(
        user: user, secret: try options.requiredSecret("secret"), project: project)
    }
    guard let token = try options.secret("token") else {
      throw UsageError(
        "mixpanel needs --username, --project-id and --secret-file of a service account, or "
          + "--token-file of the project")
    }
    return .token(token)
  }
}
