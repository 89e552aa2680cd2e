import { maskProxy, type NetworkSettings } from '../../service/http/proxy.ts';
import type { Connections } from '../../service/http/send.ts';
import {
  type ConfigFile,
  findProfileName,
  type NetworkKeys,
  type ProfileSettings,
} from './config.ts';
import type { Environment } from './places.ts';

/** Returns how the requests of a profile leave this machine; of no profile where it is unknown. */
function getNetworkSettings(
  { network, profiles }: ConfigFile,
  environment: Environment,
  profile: string | undefined,
  given: ProfileSettings = {},
): NetworkSettings {
  const own = profile === undefined ? undefined : profiles.get(profile);
  const get = (key: keyof NetworkKeys): string | undefined =>
    given[key] ?? own?.[key] ?? network?.[key];
  return { environment, proxy: get('proxy'), caFile: get('ca_file') };
}

/**
 * Returns the settings with the password of a proxy masked, to be shown to a person or a program.
 */
export function maskSettings<Settings extends { readonly proxy?: string | undefined }>(
  settings: Settings,
): Settings {
  return settings.proxy === undefined
    ? settings
    : { ...settings, proxy: maskProxy(settings.proxy) };
}

/** Connections of a command, closed with its context. */
export type ConnectionAccess = {
  openConnections(): Promise<Connections>;
  /** Opens connections with settings of the network that no profile has yet. */
  openConnectionsWith(settings: ProfileSettings): Promise<Connections>;
};

type ConnectionSources = {
  readonly environment: Environment;
  getConfig(): ConfigFile;
  onClose(close: () => void | Promise<void>): void;
};

/**
 * Makes the access to the connections of a command: those of the profile are opened once, at
 * first use.
 * @param flag profile that the command line names
 */
export function makeConnectionAccess(
  { environment, getConfig, onClose }: ConnectionSources,
  flag: string | undefined,
  openConnections: (network: NetworkSettings) => Promise<Connections>,
): ConnectionAccess {
  const openConnectionsWith = async (given?: ProfileSettings): Promise<Connections> => {
    const config = getConfig();
    const name = findProfileName(config, { flag, environment });
    const connections = await openConnections(getNetworkSettings(config, environment, name, given));
    onClose(() => connections.close());
    return connections;
  };
  let opened: Promise<Connections> | undefined;
  const openOnce = (): Promise<Connections> => {
    opened ??= openConnectionsWith();
    return opened;
  };
  return { openConnections: openOnce, openConnectionsWith };
}
