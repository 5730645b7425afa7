const { dest, parallel, series, src, watch } = require('gulp');
const { spawn } = require('node:child_process');
const { Transform } = require('node:stream');
const { rimraf } = require('rimraf');
const manifest = require('./package.json');

const ICONS = 'nodes/**/*.svg';
const CODEX = 'nodes/**/*.node.json';

/** The address that stands in the sources until the public one, package.json's homepage, replaces it. */
const ADDRESS_IN_SOURCES = 'https://example.com/n8n-nodes-digital-sales';

/** Writes package.json's homepage wherever the sources name the project's address. */
function withHomepage() {
	return new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			const text = file.contents.toString().replaceAll(ADDRESS_IN_SOURCES, manifest.homepage);
			file.contents = Buffer.from(text);
			done(null, file);
		},
	});
}

const clean = () => rimraf('dist');

const compile = () => tsc();

const icons = () => src(ICONS, { base: '.', encoding: false }).pipe(dest('dist'));

const codex = () => src(CODEX, { base: '.' }).pipe(withHomepage()).pipe(dest('dist'));

const links = () =>
	src('dist/credentials/*.js', { base: '.' }).pipe(withHomepage()).pipe(dest('.'));

function tsc(...options) {
	const program = require.resolve('typescript/bin/tsc');
	return spawn(process.execPath, [program, '-p', 'tsconfig.build.json', ...options], {
		stdio: 'inherit',
	});
}

function watchAll() {
	watch(ICONS, icons);
	watch(CODEX, codex);
	return tsc('--watch', '--preserveWatchOutput');
}

exports.build = series(clean, parallel(series(compile, links), icons, codex));
exports.dev = series(exports.build, watchAll);
exports.default = exports.build;
