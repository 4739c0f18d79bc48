import { StandaloneConnector } from 'ioredis/built/connectors/index.js'

type Options = ConstructorParameters<typeof StandaloneConnector>[0]

/**
 * A connector for the nodes of a cluster, whose errors `onError` gets: ioredis 6.0.0 asks nodes for the slots on
 * connections of its own, and says of a connection that could not be made only that it is closed.
 */
export const tellingConnector = (onError: (error: Error) => void) =>
  class extends StandaloneConnector {
    constructor(options: unknown) {
      super(options as Options)
    }

    override async connect(...given: Parameters<StandaloneConnector['connect']>) {
      const stream = await super.connect(...given)
      return stream.once('error', onError)
    }
  }
