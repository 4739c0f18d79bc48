import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis'

type Connect = SentinelConnector['connect']

/**
 * The connector for Sentinel of ioredis 6.0.0 without one fault: the failover detector of a connection that was lost
 * listens on while the client connects again. A `+switch-master` that arrives while a sentinel is asked for the master
 * ends that attempt, and a client whose attempt was ended never connects again.
 */
export class ReconnectingSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions)
  }

  override connect(...given: Parameters<Connect>): ReturnType<Connect> {
    // biome-ignore lint/complexity/useLiteralKeys: ioredis's type calls the detector private
    this['failoverDetector']?.cleanup()
    return super.connect(...given)
  }
}
