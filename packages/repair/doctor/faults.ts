import { causesOf, type Part, reasonOf } from '@tally/platform'

/** What is wrong with an address that answered in some way, and what to do. */
export type Fault = { found: string; mend: string }
type Known = { is: string; mend: string; shows: RegExp; of?: Part }

const settings = { kafka: 'KAFKA_BROKERS', postgres: 'DATABASE_URL', redis: 'REDIS_URL' }

/** Tried in this order on the codes and messages of an error and its causes; SETTING is that of the part's address. */
const known: Known[] = [
  {
    shows: /CERT_NOT_YET_VALID|certificate is not yet valid/,
    is: 'its certificate is not valid yet',
    mend: 'set the clock of this host, or wait',
  },
  {
    shows: /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/,
    is: 'its certificate is for another name',
    mend: 'write a name that the certificate has in SETTING, or have a certificate issued for this one',
  },
  {
    of: 'postgres',
    shows:
      /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET)|self-signed certificate|unable to (verify the first|get (local )?issuer) certificate/,
    is: 'its certificate is not trusted',
    mend: 'let NODE_EXTRA_CA_CERTS name the file of its certificate authority, or sslrootcert in DATABASE_URL',
  },
  {
    shows:
      /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET)|self-signed certificate|unable to (verify the first|get (local )?issuer) certificate/,
    is: 'its certificate is not trusted',
    mend: 'let NODE_EXTRA_CA_CERTS name the file of its certificate authority',
  },
  {
    shows: /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long|EPROTO/i,
    is: 'it does not speak TLS',
    mend: 'switch TLS on there, or off here (KAFKA_SSL, sslmode, redis:// in place of rediss://)',
  },
  {
    of: 'postgres',
    shows: /does not support SSL connections/,
    is: 'it does not speak TLS',
    mend: 'switch ssl on in postgresql.conf, or write sslmode=disable in DATABASE_URL if the network is your own',
  },
  {
    shows: /before secure TLS connection was established/,
    is: 'it ended the connection before TLS began',
    mend: 'name its port for TLS in SETTING, or switch TLS off here (KAFKA_SSL, sslmode, redis:// in place of rediss://)',
  },
  {
    of: 'redis',
    shows: /it announces \S+: (?!.*certificate)/,
    is: 'it is a Redis Cluster, one of whose nodes cannot be reached from here',
    mend: 'run Tally in the network of the nodes, or let them announce what is reached from here (cluster-announce-ip, cluster-announce-hostname)',
  },
  {
    shows: /ENOTFOUND|EAI_AGAIN/,
    is: 'its name does not resolve',
    mend: 'correct the host in SETTING, or the DNS of this host',
  },
  {
    of: 'redis',
    shows: /\bNOAUTH\b/,
    is: 'it wants a password',
    mend: 'write user and password in REDIS_URL: redis://USER:PASSWORD@HOST',
  },
  {
    of: 'redis',
    shows: /\bWRONGPASS\b|invalid password/,
    is: 'it refuses user and password',
    mend: 'correct user and password in REDIS_URL; without a user it is `default`',
  },
  {
    of: 'redis',
    shows: /AUTH.* without any password configured|no password is set/,
    is: 'it has no password, and REDIS_URL names one',
    mend: 'leave the password out of REDIS_URL, or set one in Redis (ACL SETUSER)',
  },
  {
    of: 'redis',
    shows: /\bNOPERM\b/,
    is: 'its user may not do what Tally does',
    mend: 'give the user of REDIS_URL its rights (docs/install.md, Installation)',
  },
  {
    of: 'redis',
    shows: /SELECT is not allowed|uses database 0/,
    is: 'it is a Redis Cluster, and REDIS_URL names a database',
    mend: 'leave the number out of REDIS_URL; installations that share a cluster differ in REDIS_PREFIX',
  },
  {
    of: 'redis',
    shows: /DB index is out of range/,
    is: 'it has no database of that number',
    mend: 'correct the number at the end of REDIS_URL, or raise `databases` in redis.conf',
  },
  {
    of: 'redis',
    shows: /cluster support disabled/,
    is: 'it is not a Redis Cluster, and REDIS_URL names several nodes',
    mend: 'name one Redis in REDIS_URL, or sentinels (redis+sentinel://)',
  },
  {
    of: 'redis',
    shows: /\bCLUSTERDOWN\b/,
    is: 'some slots of the cluster have no master',
    mend: 'bring its masters back (redis-cli --cluster check)',
  },
  {
    of: 'redis',
    shows: /\bLOADING\b/,
    is: 'it is loading its data',
    mend: 'wait until it has (INFO persistence says how far it is)',
  },
  {
    of: 'redis',
    shows: /\b(READONLY|MASTERDOWN)\b/,
    is: 'it is a replica',
    mend: 'point REDIS_URL to the master, or use redis+sentinel:// or the nodes of the cluster',
  },
  {
    shows: /max number of clients|53300|too many (clients|connections)/,
    is: 'it has no connection left',
    mend: 'raise its limit (maxclients, max_connections), or end what holds connections',
  },
  {
    of: 'postgres',
    shows: /ENOENT|EACCES/,
    is: 'a file that DATABASE_URL names cannot be read',
    mend: 'correct sslrootcert, sslcert and sslkey',
  },
  {
    of: 'postgres',
    shows: /sslmode=verify-ca requires/,
    is: 'sslmode=verify-ca with uselibpqcompat needs sslrootcert',
    mend: 'write sslmode=verify-full in DATABASE_URL, without uselibpqcompat',
  },
  {
    of: 'postgres',
    shows: /28P01/,
    is: 'it refuses the password',
    mend: 'correct user and password in DATABASE_URL; characters such as @ and / are written %40 and %2F',
  },
  {
    of: 'postgres',
    shows: /no pg_hba\.conf entry.*no encryption/,
    is: 'its pg_hba.conf takes no connection without TLS from here',
    mend: 'write sslmode=verify-full in DATABASE_URL, or add a line to pg_hba.conf',
  },
  {
    of: 'postgres',
    shows: /pg_hba\.conf/,
    is: 'its pg_hba.conf does not admit this host, user and database',
    mend: 'add a line for them to pg_hba.conf and reload it',
  },
  {
    of: 'postgres',
    shows: /28000/,
    is: 'it refuses the user',
    mend: 'create the role with `login`, or correct the user in DATABASE_URL',
  },
  {
    of: 'postgres',
    shows: /3D000/,
    is: 'the database is missing',
    mend: 'create it and run `tally migrate`, or correct its name in DATABASE_URL',
  },
  {
    of: 'postgres',
    shows: /42501/,
    is: 'the user may not connect to the database',
    mend: 'grant it: `grant connect on database NAME to USER`',
  },
  {
    of: 'postgres',
    shows: /57P03/,
    is: 'it is starting, stopping or recovering',
    mend: 'wait; its log says how far it is',
  },
  {
    of: 'kafka',
    shows: /an answer of 1213486164 bytes/, // HTTP
    is: 'something answers HTTP on this port, not Kafka',
    mend: 'correct the port in KAFKA_BROKERS',
  },
  {
    of: 'kafka',
    shows:
      /UNSUPPORTED_SASL_MECHANISM|mechanism is not supported|does not support the requested SASL mechanism/,
    is: 'it does not take this SASL mechanism',
    mend: 'set KAFKA_SASL_MECHANISM to one that its listener has enabled',
  },
  {
    of: 'kafka',
    shows: /SASL/,
    is: 'it refuses user and password',
    mend: 'correct KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM',
  },
]

/** Says what an error of a part's first answer means; undefined if it only says that there was none. */
export function faultOf(part: Part, error: unknown): Fault | undefined {
  const said = causesOf(error)
    .map(({ name, code, type, message }) => `${name} ${code} ${type} ${message}`)
    .join('\n')
  const fault = known.find(({ of, shows }) => (of === undefined || of === part) && shows.test(said))
  if (fault === undefined) return undefined
  // Node's advice about the system's authorities, which is not about Tally's settings.
  const reason = reasonOf(error).replace(/; if the root CA is installed locally.*/, '')
  return { found: `${fault.is} (${reason})`, mend: fault.mend.replaceAll('SETTING', settings[part]) }
}
