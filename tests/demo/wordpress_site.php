<?php
/* The blocks of docs/wordpress.md in a stand-in for WordPress and for the service; run by test_guides.py with PHP. */

define( 'CARREL_URL', 'https://carrel.example.com' );
define( 'CARREL_PLUGIN_SECRET', 'of-this-test' );
define( 'MINUTE_IN_SECONDS', 60 );

class WP_User {
    public function __construct( public int $ID, public string $user_login, public string $user_pass ) {}
}
class WP_Error {
    public function __construct( public string $code = '', public string $message = '' ) {}
}
class WP_Session_Tokens {
    public static int $ended = 0;
    public static function get_instance( int $user_id ): self { return new self(); }
    public function destroy_all(): void { self::$ended++; }
}
class Wpdb {
    public string $users = 'wp_users';
    public function update( string $table, array $values, array $where ): void {
        check( $table === 'wp_users', 'the table of users' );
        World::$users[ $where['ID'] ]->user_pass = $values['user_pass'];
    }
}

/* What there is: WordPress's tables, and the service behind the wire. */
class World {
    public static array $users = array();
    public static array $meta = array();
    public static array $transients = array();
    public static array $hooks = array();
    public static array $provisioned = array();
    public static array $workspaces = array();
    public static array $memory = array();
    public static array $faults = array();
    public static array $sent = array();
}
$wpdb = new Wpdb();

function check( bool $holds, string $what ): void {
    if ( ! $holds ) {
        echo "FAILED: $what\n";
        exit( 1 );
    }
}
function add_filter( string $hook, callable $does, int $priority = 10, int $arguments = 1 ): void {
    World::$hooks[ $hook ][ $priority ][] = $does;
    ksort( World::$hooks[ $hook ] );
}
function add_action( string $hook, callable $does ): void { add_filter( $hook, $does ); }
function apply( string $hook, mixed ...$arguments ): mixed {
    foreach ( World::$hooks[ $hook ] ?? array() as $all ) {
        foreach ( $all as $does ) {
            $arguments[0] = $does( ...$arguments ) ?? $arguments[0];
        }
    }
    return $arguments[0];
}
function did_action( string $hook ): int { return 0; }
function get_user_meta( int $user_id, string $name, bool $single ): string { return World::$meta[ $user_id ][ $name ] ?? ''; }
function update_user_meta( int $user_id, string $name, string $value ): void { World::$meta[ $user_id ][ $name ] = $value; }
function add_user_meta( int $user_id, string $name, string $value, bool $unique ): void { World::$meta[ $user_id ][ $name ] ??= $value; }
function delete_user_meta( int $user_id, string $name ): void { unset( World::$meta[ $user_id ][ $name ] ); }
function clean_user_cache( int $user_id ): void {}
function get_user_by( string $field, $value ): WP_User|false {
    foreach ( World::$users as $user ) {
        if ( ( $field === 'id' && $user->ID === $value ) || ( $field === 'login' && $user->user_login === $value ) ) {
            return clone $user;
        }
    }
    return false;
}
function wp_generate_uuid4(): string { return '3f1c2b9e-0001'; }
function wp_hash_password( string $password ): string { return 'hashed ' . $password; }
function wp_check_password( string $password, string $hash, int $user_id ): bool { return $hash === 'hashed ' . $password; }
function set_transient( string $name, string $value, int $seconds ): void {
    check( $seconds === 3300, '55 minutes' );
    World::$transients[ $name ] = $value;
}
function get_transient( string $name ): string|false { return World::$transients[ $name ] ?? false; }
function delete_transient( string $name ): void { unset( World::$transients[ $name ] ); }
function wp_json_encode( $value ): string { return json_encode( $value ); }
function is_wp_error( $value ): bool { return $value instanceof WP_Error; }
function wp_remote_retrieve_response_code( array $answer ): int { return $answer[0]; }
function wp_remote_retrieve_body( array $answer ): string { return json_encode( $answer[1] ); }
function wp_remote_post( string $url, array $request ): array|WP_Error {
    check( $request['redirection'] === 0, 'a redirect would carry the secret elsewhere' );
    check( $request['headers']['X-SVC-Plugin-Secret'] === CARREL_PLUGIN_SECRET, 'the secret is a header' );
    $path = substr( $url, strlen( CARREL_URL . '/api' ) );
    World::$sent[] = $path;
    $fault = array_shift( World::$faults );
    if ( $fault === 'refused' ) {
        return new WP_Error( 'http_request_failed' );
    }
    $answer = service( $path, json_decode( $request['body'], true ) );
    return $fault === 'lost' ? new WP_Error( 'http_request_failed' ) : $answer;
}
function service( string $path, array $body ): array {
    $uuid = $body['uuid'];
    $memory = World::$memory[ $uuid ] ?? null;
    if ( $path === '/users' ) {
        World::$provisioned[ $uuid ] = true;
        return array( 201, array() );
    }
    if ( $path === '/auth/refresh' ) {
        return $memory === null ? array( 401, array( 'code' => 'key-not-cached' ) ) : array( 200, array( 'session_token' => 'refreshed' ) );
    }
    if ( $path === '/auth/login' ) {
        World::$workspaces[ $uuid ] ??= $body['db_key_hex'];
        if ( World::$workspaces[ $uuid ] !== $body['db_key_hex'] ) {
            unset( World::$memory[ $uuid ] );
            return array( 401, array( 'code' => 'key-rejected' ) );
        }
        World::$memory[ $uuid ] = $body['db_key_hex'];
        return array( 200, array( 'session_token' => 'signed-in' ) );
    }
    $old = $body['old_db_key_hex'] ?? $memory;
    if ( ! isset( World::$workspaces[ $uuid ] ) ) {
        return array( 409, array( 'code' => 'workspace-absent' ) );
    }
    if ( $old === null ) {
        return array( 409, array( 'code' => 'old-key-required' ) );
    }
    if ( $old !== World::$workspaces[ $uuid ] ) {
        return array( 401, array( 'code' => 'key-rejected' ) );
    }
    World::$workspaces[ $uuid ] = World::$memory[ $uuid ] = $body['new_db_key_hex'];
    return array( 200, array( 'session_token' => 'rekeyed' ) );
}
/* As WordPress does at priority 20. */
add_filter( 'authenticate', function ( $user, $username, $password ) {
    if ( $user instanceof WP_User || $user instanceof WP_Error ) {
        return $user;
    }
    $found = get_user_by( 'login', $username );
    return $found && wp_check_password( $password, $found->user_pass, $found->ID ) ? $found : new WP_Error( 'incorrect_password' );
}, 20, 3 );

function hash_pbkdf2_once( mixed ...$arguments ): string {
    static $derived = array();
    return $derived[ json_encode( $arguments ) ] ??= hash_pbkdf2( ...$arguments );
}

/* The blocks, whose file begins with the opening tag of PHP. */
foreach ( array_slice( $argv, 1 ) as $block ) {
    require $block;
}

function signs_in( string $password ): bool { return apply( 'authenticate', null, 'ada', $password ) instanceof WP_User; }
function opens( string $password ): bool { return signs_in( $password ) && carrel_token( 1 ) !== null; }

$vector = 'bb72a768eefa38b02ee0e92f7f7689d32f559e5c995fd2f5d6c54da6243507b4';
check( carrel_key_hex( 'correct horse battery staple', '3f1c2b9e-0001' ) === $vector, 'the vector' );

World::$users[1] = new WP_User( 1, 'ada', wp_hash_password( 'first' ) );
apply( 'user_register', 1 );
check( World::$provisioned === array( '3f1c2b9e-0001' => true ), 'the user is created under the uuid' );

check( ! signs_in( 'wrong' ) && World::$sent === array( '/users' ), 'a wrong password goes nowhere' );
check( opens( 'first' ) && carrel_token( 1 ) === 'signed-in', 'signing in keeps the token' );
apply( 'wp_logout', 1 );
check( carrel_token( 1 ) === 'refreshed', 'a token without the password, while the key is in memory' );
World::$memory = World::$transients = array();
check( carrel_token( 1 ) === null, 'locked' );
check( opens( 'first' ), 'the password opens it again' );

$user = fn() => get_user_by( 'id', 1 );
check( carrel_change_password( $user(), 'second', 'wrong' ) === 'wrong-password', 'the old password is asked for' );
check( carrel_change_password( $user(), 'second', 'first' ) === 'changed', 'a change' );
check( WP_Session_Tokens::$ended === 1 && ! signs_in( 'first' ) && opens( 'second' ), 'the new one counts, and sessions ended' );

World::$faults = array( 'lost' );
check( carrel_change_password( $user(), 'third', 'second' ) === 'unknown', 'an answer that is lost' );
check( get_user_meta( 1, 'carrel_pending', true ) !== '', 'keeps the new one pending' );
check( ! signs_in( 'second' ), 'the workspace has another' );
check( opens( 'third' ) && get_user_meta( 1, 'carrel_pending', true ) === '', 'the workspace has decided for the new one' );
check( ! signs_in( 'second' ), 'the old one is gone' );

World::$faults = array( 'refused' );
check( carrel_change_password( $user(), 'fourth', 'third' ) === 'unknown', 'WordPress does not tell a refusal from a loss' );
check( ! signs_in( 'fourth' ), 'which the workspace does not have' );
check( opens( 'third' ) && get_user_meta( 1, 'carrel_pending', true ) === '', 'the workspace has decided for the old one' );

check( carrel_change_password( $user(), 'fifth' ) === 'changed' && opens( 'fifth' ), 'a reset with the key in memory' );
World::$memory = array();
check( carrel_change_password( $user(), 'sixth' ) === 'old-key-required', 'a reset without it' );
check( get_user_meta( 1, 'carrel_pending', true ) === '' && opens( 'fifth' ), 'changed nothing' );
echo "the whole life of a WordPress plugin\n";
