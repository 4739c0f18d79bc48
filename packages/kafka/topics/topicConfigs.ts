import { inside, type KafkaConnection } from '../client/connection.ts'

const topicResource = 2

/** The given settings of each topic, by topic and name. Throws kafkajs's error if Kafka is down or forbids it. */
export async function topicConfigs(
  connection: KafkaConnection,
  topics: string[],
  names: string[],
): Promise<Map<string, Map<string, string>>> {
  const resources = topics.map(name => ({ type: topicResource, name, configNames: names }))
  const { resources: found } = await inside(connection).admin.use(admin =>
    admin.describeConfigs({ resources, includeSynonyms: false }),
  )
  return new Map(
    found.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  )
}
