<?php
/* A plugin of the test: mail that is a file, a record of what the service was asked, and PHP that dies at a request. */

add_filter( 'pre_wp_mail', function ( $sent, $mail ) {
    file_put_contents( ABSPATH . 'mail.txt', $mail['message'] );
    return true;
}, 10, 2 );

add_filter( 'carrel_membership', fn() => 'paid' );

/* The route of the service; '' if the request goes elsewhere. */
function route_of( string $url ): string {
    return str_starts_with( $url, CARREL_URL ) ? substr( $url, strlen( CARREL_URL . '/api' ) ) : '';
}

/* The fault is in a file, such as "after /auth/rekey" or "lose /auth/rekey". */
function fault_at( string $when, string $url ): bool {
    $file = ABSPATH . 'fault.txt';
    return file_exists( $file ) && trim( "$when " . route_of( $url ) ) === file_get_contents( $file );
}

/* Until a second request waits for the lock, or has come as far as this one. */
function await_another(): void {
    global $wpdb;
    $waits = "SELECT COUNT( * ) FROM information_schema.processlist WHERE state = 'User lock'";
    file_put_contents( ABSPATH . 'met.txt', '.', FILE_APPEND );
    for ( $tries = 0; $tries < 1000 && filesize( ABSPATH . 'met.txt' ) < 2 && '0' === $wpdb->get_var( $waits ); $tries++ ) {
        usleep( 10000 );
        clearstatcache();
    }
}

add_filter( 'pre_http_request', function ( $answer, $request, $url ) {
    if ( '' !== route_of( $url ) ) {
        file_put_contents( ABSPATH . 'asked.txt', "{$request['method']} " . route_of( $url ) . "\n", FILE_APPEND );
    }
    if ( fault_at( 'refuse', '' ) && '' !== route_of( $url ) ) {
        return new WP_Error( 'http_request_failed' );
    }
    if ( fault_at( 'before', $url ) ) {
        posix_kill( getmypid(), SIGKILL );
    }
    if ( fault_at( 'meet', $url ) ) {
        await_another();
    }
    return $answer;
}, 10, 3 );

add_filter( 'http_response', function ( $answer, $request, $url ) {
    if ( fault_at( 'after', $url ) ) {
        posix_kill( getmypid(), SIGKILL );
    }
    return fault_at( 'lose', $url ) ? new WP_Error( 'http_request_failed' ) : $answer;
}, 10, 3 );

/* What PHP or WordPress has to say about the plugin fails the test. */
set_error_handler( function ( $level, $text, $file, $line ) {
    if ( str_contains( $file, '/plugins/carrel/' ) ) {
        file_put_contents( ABSPATH . 'complaints.txt', "$text in $file:$line\n", FILE_APPEND );
    }
    return false;
} );
