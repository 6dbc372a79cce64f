/** The hub's certificate: files of the owner's, or one of our own making whose fingerprint travels in the pairing link (contract §3). */
import { createHash, X509Certificate as NodeCertificate, webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { writePrivateFile } from "../auth/private-file.ts";

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** SHA-256 of the certificate; only for one of our own making. */
  readonly fingerprint?: string;
}

export interface TlsConfig {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly selfSigned: boolean;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 397;
/** One of our own is made anew this long before its end. */
const RENEW_DAYS = 30;

/** The files named in the configuration are of no use. The message names the key and the file. */
export class TlsFilesError extends Error {
  override readonly name = "TlsFilesError";
}

/** Undefined: plain HTTP. Rejects with `TlsFilesError` for files that cannot be used. `names`: what the certificate has to be good for. */
export async function tlsFiles(
  config: TlsConfig,
  keysDir: string,
  names: readonly string[],
): Promise<TlsFiles | undefined> {
  if (config.cert !== undefined && config.key !== undefined) {
    return pairOf(await named("tls.cert", config.cert), await named("tls.key", config.key));
  }
  return config.selfSigned ? ownCertificate(keysDir, names) : undefined;
}

async function named(key: "tls.cert" | "tls.key", file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new TlsFilesError(`${key}: ${file} cannot be read (${code})`, { cause: error });
  }
}

/** As the server will take them: found here, while nothing listens yet. */
function pairOf(cert: Buffer, key: Buffer): TlsFiles {
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown";
    throw new TlsFilesError(`tls.cert and tls.key are no certificate and its key, in PEM: ${why}`, { cause: error });
  }
}

async function ownCertificate(keysDir: string, names: readonly string[]): Promise<TlsFiles> {
  const [certPath, keyPath] = [join(keysDir, "tls.crt"), join(keysDir, "tls.key")];
  const known = await Promise.all([readFile(certPath), readFile(keyPath)]).catch(() => undefined);
  if (known !== undefined && isGood(known[0], known[1], names)) return withFingerprint(known[0], known[1]);
  const made = await makeCertificate(names);
  await writePrivateFile(keyPath, made.key);
  await writePrivateFile(certPath, made.cert);
  return withFingerprint(made.cert, made.key);
}

/** False also for what a hub left that was killed between its two files: the one has nothing to do with the other then. */
function isGood(pem: Buffer, key: Buffer, names: readonly string[]): boolean {
  try {
    createSecureContext({ cert: pem, key });
  } catch {
    return false;
  }
  const certificate = new NodeCertificate(pem);
  const isFresh = new Date(certificate.validTo).getTime() - Date.now() > RENEW_DAYS * DAY_MS;
  const fits = (name: string): boolean =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  return isFresh && names.every(fits);
}

const withFingerprint = (cert: Buffer, key: Buffer): TlsFiles => ({
  cert,
  key,
  fingerprint: createHash("sha256").update(new NodeCertificate(cert).raw).digest("base64url"),
});

async function makeCertificate(names: readonly string[]): Promise<{ cert: Buffer; key: Buffer }> {
  // Only a hub that makes its own needs this library, and the library needs the other one before it.
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  x509.cryptoProvider.set(webcrypto);
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=acp-hub",
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + VALID_DAYS * DAY_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value })),
      ),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  const key = `-----BEGIN PRIVATE KEY-----\n${(pkcs8.match(/.{1,64}/g) ?? []).join("\n")}\n-----END PRIVATE KEY-----\n`;
  return { cert: Buffer.from(`${certificate.toString("pem")}\n`), key: Buffer.from(key) };
}
