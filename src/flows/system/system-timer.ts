import { posix, win32 } from 'node:path';
import { elementText, type XmlNode } from '../../xml/write-xml.ts';

/** Timer of the system: files, and the commands that install and remove it. */
export type SystemTimer = {
  readonly files: readonly { readonly path: string; readonly content: string | Buffer }[];
  readonly begin: readonly SystemCommand[];
  /** Commands before the files are removed, and after. */
  readonly end: readonly SystemCommand[];
  readonly ended: readonly SystemCommand[];
};

export type SystemCommand = readonly [program: string, ...args: string[]];

export type TimedProgram = {
  /** Letters, digits, dots, dashes and underscores; unique for this user. */
  readonly name: string;
  readonly description: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly everyMs: number;
  /** First run on Windows, as a local time without zone. */
  readonly firstAt: string;
};

export type TimerSystem = {
  readonly platform: NodeJS.Platform;
  /** Parent folder of systemd's user units: `~/.config`. */
  readonly configFolder: string;
  readonly userFolder: string;
  readonly userId: number;
  /** Folder for files without a prescribed place. */
  readonly ownFolder: string;
};

/** Returns a timer of the user, which needs no administrator. Runs do not overlap. */
export function timerFor(program: TimedProgram, system: TimerSystem): SystemTimer {
  if (system.platform === 'win32') return taskOfWindows(program, system);
  return system.platform === 'darwin' ? launchAgent(program, system) : systemdUnits(program, system);
}

/** systemd.timer(5), systemd.service(5). */
function systemdUnits({ name, description, command, everyMs }: TimedProgram, { configFolder }: TimerSystem): SystemTimer {
  const folder = posix.join(configFolder, 'systemd', 'user');
  const plain = description.replaceAll('%', '%%');
  const service = `[Unit]
Description=${plain}

[Service]
Type=oneshot
ExecStart=${command.map(systemdWord).join(' ')}
`;
  const timer = `[Unit]
Description=${plain}

[Timer]
OnStartupSec=2min
OnUnitActiveSec=${everyMs / 1000}s

[Install]
WantedBy=timers.target
`;
  const reload: SystemCommand = ['systemctl', '--user', 'daemon-reload'];
  return {
    files: [
      { path: posix.join(folder, `${name}.service`), content: service },
      { path: posix.join(folder, `${name}.timer`), content: timer },
    ],
    begin: [reload, ['systemctl', '--user', 'enable', '--now', `${name}.timer`]],
    end: [['systemctl', '--user', 'disable', '--now', `${name}.timer`]],
    ended: [reload],
  };
}

/** Quotes a word (systemd.service(5), "Command lines"); `%` and `$` are doubled. */
function systemdWord(word: string): string {
  const escaped = word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return `"${escaped}"`;
}

/** launchd.plist(5). */
function launchAgent({ name, command, everyMs }: TimedProgram, { userFolder, userId }: TimerSystem): SystemTimer {
  const label = `org.pas-finds.${name}`;
  const path = posix.join(userFolder, 'Library', 'LaunchAgents', `${label}.plist`);
  const key = (text: string): XmlNode => ({ name: 'key', content: text });
  const text = (content: string): XmlNode => ({ name: 'string', content });
  const plist = elementText({
    name: 'plist',
    attributes: { version: '1.0' },
    content: [
      {
        name: 'dict',
        content: [
          key('Label'),
          text(label),
          key('ProgramArguments'),
          { name: 'array', content: command.map(text) },
          key('StartInterval'),
          { name: 'integer', content: String(everyMs / 1000) },
          key('RunAtLoad'),
          { name: 'true' },
          key('ProcessType'),
          text('Background'),
        ],
      },
    ],
  });
  const head =
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n';
  return {
    files: [{ path, content: head + plist }],
    begin: [['launchctl', 'bootstrap', `gui/${userId}`, path]],
    end: [['launchctl', 'bootout', `gui/${userId}/${label}`]],
    ended: [],
  };
}

/** Task Scheduler schema 1.2, as Windows 10 exports a task; UTF-16, which `schtasks` requires. */
function taskOfWindows({ name, description, command, everyMs, firstAt }: TimedProgram, { ownFolder }: TimerSystem): SystemTimer {
  const [program, ...args] = command;
  const path = win32.join(ownFolder, `${name}.xml`);
  const text = (element: string, content: string): XmlNode => ({ name: element, content });
  const task = elementText({
    name: 'Task',
    attributes: { version: '1.2', xmlns: 'http://schemas.microsoft.com/windows/2004/02/mit/task' },
    content: [
      { name: 'RegistrationInfo', content: [text('Description', description)] },
      {
        name: 'Triggers',
        content: [
          {
            name: 'TimeTrigger',
            content: [
              {
                name: 'Repetition',
                content: [text('Interval', `PT${everyMs / 60_000}M`), text('StopAtDurationEnd', 'false')],
              },
              text('StartBoundary', firstAt),
              text('Enabled', 'true'),
            ],
          },
        ],
      },
      {
        name: 'Principals',
        content: [
          {
            name: 'Principal',
            attributes: { id: 'Author' },
            content: [text('LogonType', 'InteractiveToken'), text('RunLevel', 'LeastPrivilege')],
          },
        ],
      },
      {
        name: 'Settings',
        content: [
          text('MultipleInstancesPolicy', 'IgnoreNew'),
          text('DisallowStartIfOnBatteries', 'false'),
          text('StopIfGoingOnBatteries', 'false'),
          text('StartWhenAvailable', 'true'),
          text('ExecutionTimeLimit', 'PT0S'),
        ],
      },
      {
        name: 'Actions',
        attributes: { Context: 'Author' },
        content: [
          { name: 'Exec', content: [text('Command', program), text('Arguments', args.map((word) => `"${word}"`).join(' '))] },
        ],
      },
    ],
  });
  return {
    files: [{ path, content: Buffer.from(`\uFEFF<?xml version="1.0" encoding="UTF-16"?>\r\n${task}`, 'utf16le') }],
    begin: [['schtasks', '/Create', '/TN', `pas\\${name}`, '/XML', path, '/F']],
    end: [['schtasks', '/Delete', '/TN', `pas\\${name}`, '/F']],
    ended: [],
  };
}
