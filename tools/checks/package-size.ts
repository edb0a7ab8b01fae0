import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of the tarball, and of what it holds. */
const most = { packed: 1_400_000, unpacked: 5_000_000 };

/** What the package consists of, each with the bytes that it may have: a sum that is too large says what has grown. */
const parts: readonly { readonly name: string; readonly files: RegExp; readonly most: number }[] = [
  { name: 'the command line', files: /^dist\/cli\//, most: 1_300_000 },
  { name: 'source maps', files: /\.map$/, most: 300_000 },
  { name: 'declarations', files: /\.d\.ts$/, most: 480_000 },
  { name: 'the library', files: /^dist\/.*\.js$/, most: 1_730_000 },
  { name: 'pages', files: /^(?:docs|skills)\/|^[\w-]+\.(?:md|txt)$/, most: 580_000 },
  { name: 'examples', files: /^examples\//, most: 190_000 },
  { name: 'contract and vectors', files: /^(?:contract|vectors)\//, most: 540_000 },
  { name: 'the rest', files: /^/, most: 70_000 },
];

/** What is too large, with the largest files of each part that has grown. */
export function findSizeProblems({ installed, tarball }: { installed: string; tarball: string }): string[] {
  const files = globSync('**', { cwd: installed }).flatMap((path) => {
    const stats = statSync(join(installed, path));
    return stats.isFile() ? [{ path, size: stats.size }] : [];
  });
  const packed = readFileSync(tarball).length;
  const unpacked = sumOf(files);
  const partOf = (path: string) => parts.find((part) => part.files.test(path));
  return [
    ...(packed > most.packed ? [`packed it has ${packed} bytes, more than ${most.packed}`] : []),
    ...(unpacked > most.unpacked ? [`unpacked it has ${unpacked} bytes, more than ${most.unpacked}`] : []),
    ...parts.flatMap((part) => {
      const own = files.filter(({ path }) => partOf(path) === part);
      if (sumOf(own) <= part.most) return [];
      const largest = own.toSorted((one, other) => other.size - one.size).slice(0, 5);
      const named = largest.map(({ path, size }) => `${path} ${size}`).join(', ');
      return [`${part.name}: ${sumOf(own)} bytes, more than ${part.most}; the largest: ${named}`];
    }),
  ];
}

function sumOf(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
