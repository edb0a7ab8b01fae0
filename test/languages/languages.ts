import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A language that a receiver is written in. */
export interface Language {
  /** In `examples/languages`. */
  readonly file: string;
  /** Runs only where it is installed, also in CI. */
  readonly isOptional?: boolean;
  /** What has to be installed. */
  readonly needs: string;
  readonly isInstalled: readonly string[];
  /** Prepares the program, in a folder of its own. */
  readonly compile?: (folder: string) => void;
  readonly listen: (folder: string, port: string) => readonly string[];
  readonly order: (folder: string, id: string) => readonly string[];
  /** Stands in place of the line that says where to store the event: appends body and NUL to the file `EVENTS`. */
  readonly store: string;
  /** A program behind a web server cannot refuse to start: it answers 500. */
  readonly withoutKeys?: 'answers 500';
}

const apacheModules = '/usr/lib/apache2/modules';

export const languages: Readonly<Record<string, Language>> = {
  python: {
    file: 'receiver.py',
    needs: 'python3',
    isInstalled: ['python3', '--version'],
    listen: (folder, port) => ['python3', join(folder, 'receiver.py'), 'listen', port],
    order: (folder, id) => ['python3', join(folder, 'receiver.py'), 'order', id],
    store: '        if event is not None: open(os.environ["EVENTS"], "ab", 0).write(body + b"\\0")',
  },
  flask: {
    file: 'receiver.py',
    isOptional: true,
    needs: 'Flask 3',
    isInstalled: ['python3', '-c', 'import flask'],
    compile: (folder) =>
      copyFileSync(join(import.meta.dirname, 'flask_receiver.py'), join(folder, 'flask_receiver.py')),
    listen: (folder, port) => ['python3', join(folder, 'flask_receiver.py'), 'listen', port],
    order: (folder, id) => ['python3', join(folder, 'receiver.py'), 'order', id],
    // flask_receiver.py stores it.
    store: '',
  },
  php: {
    file: 'receiver.php',
    needs: 'php-cli and libapache2-mod-php',
    isInstalled: ['sh', '-c', `php --version && ls ${apacheModules}/libphp*.so`],
    compile: prepareApache,
    listen: (folder, port) => {
      const config = ['-d', folder, '-f', join(folder, 'apache.conf'), '-c', `Listen 127.0.0.1:${port}`];
      return ['/usr/sbin/apache2', '-D', 'FOREGROUND', ...config];
    },
    order: (folder, id) => ['php', join(folder, 'receiver.php'), 'order', id],
    store: `
      if ($event === null) return 401;
      file_put_contents(getenv('EVENTS'), file_get_contents('php://input') . "\\0", FILE_APPEND | LOCK_EX);
      return 200;`,
    withoutKeys: 'answers 500',
  },
  go: {
    file: 'receiver.go',
    needs: 'golang-go',
    isInstalled: ['go', 'version'],
    compile: (folder) => void execFileSync('go', ['build', '-o', folder, join(folder, 'receiver.go')]),
    listen: (folder, port) => [join(folder, 'receiver'), 'listen', port],
    order: (folder, id) => [join(folder, 'receiver'), 'order', id],
    store: `
      } else {
        events, _ := os.OpenFile(os.Getenv("EVENTS"), os.O_APPEND|os.O_WRONLY, 0)
        events.Write(append(body, 0))
        events.Close()
      }`,
  },
  java: {
    file: 'Receiver.java',
    needs: 'a JDK 17',
    isInstalled: ['javac', '--version'],
    compile: (folder) => void execFileSync('javac', ['-d', folder, join(folder, 'Receiver.java')]),
    listen: (folder, port) => ['java', '-cp', folder, 'Receiver', 'listen', port],
    order: (folder, id) => ['java', '-cp', folder, 'Receiver', 'order', id],
    store: `
      byte[] body = exchange.getRequestBody().readAllBytes();
      if (!isAuthentic(body)) return 401;
      var events = java.nio.file.Path.of(System.getenv("EVENTS"));
      java.nio.file.Files.write(events, Arrays.copyOf(body, body.length + 1), java.nio.file.StandardOpenOption.APPEND);
      return 200;`,
  },
  ruby: {
    file: 'receiver.rb',
    needs: 'ruby',
    isInstalled: ['ruby', '--version'],
    listen: (folder, port) => ['ruby', join(folder, 'receiver.rb'), 'listen', port],
    order: (folder, id) => ['ruby', join(folder, 'receiver.rb'), 'order', id],
    store: `
      return 401 unless body.bytesize == length && authentic?(body)
      File.open(ENV['EVENTS'], 'ab') { |events| events.syswrite(body + "\\0") }
      200`,
  },
};

/** PHP has no server of its own for production: its receiver runs in Apache, which gives bodies a time to arrive. */
function prepareApache(folder: string): void {
  const [php = ''] = globSync(`${apacheModules}/libphp*.so`);
  const modules = { mpm_prefork: '', authz_core: '', alias: '', reqtimeout: '', php };
  const load = Object.entries(modules).map(
    ([name, file]) => `LoadModule ${name}_module ${file || `${apacheModules}/mod_${name}.so`}`,
  );
  const config = [
    ...load,
    'ServerName 127.0.0.1',
    'RequestReadTimeout header=8 body=8',
    // The attack holds connections open: a request must not wait for a process to be made.
    'StartServers 16',
    'MinSpareServers 16',
    'MaxSpareServers 32',
    'TraceEnable off',
    // As root it runs as these.
    'User nobody',
    'Group nogroup',
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.log`,
    `AliasMatch ^/.*$ ${folder}/receiver.php`,
    `<Directory ${folder}>`,
    'Require all granted',
    'SetHandler application/x-httpd-php',
    '</Directory>',
  ];
  writeFileSync(join(folder, 'apache.conf'), config.join('\n'));
}
