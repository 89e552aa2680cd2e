const OWN_NAME_SPACE = 'pid:[4026531836]';

/** Whether a machine can be given another name here: where its name is read from a file. */
export const canNameMachines = process.platform === 'linux';

/** The environment in which a process of Node takes this machine, or this container, for the one of this identifier. */
export function namedMachine(identifier: string): NodeJS.ProcessEnv {
  const renamed = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { readFileSync, readlinkSync } = fs;
    fs.readFileSync = (path, ...rest) => (path === '/etc/machine-id' ? '${identifier}' : readFileSync(path, ...rest));
    fs.readlinkSync = (path, ...rest) => (path === '/proc/self/ns/pid' ? '${OWN_NAME_SPACE}' : readlinkSync(path, ...rest));
    syncBuiltinESMExports();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(renamed)}` };
}
